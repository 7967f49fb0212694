/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { eventsOf } from '#test/support/judges/event-stream.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { compiledFunctions } from '#test/support/worlds/deploy.ts';

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Run {
  readonly connection_id: string;
  readonly id: string;
  readonly function: string;
  readonly status: string;
  readonly ended_at: string | null;
  readonly records_readable: boolean | null;
}
interface Page {
  readonly data: readonly Run[];
  readonly pagination: { readonly cursor: string | null };
}
interface Message {
  readonly offset: number;
  readonly key: string;
}
interface Whole extends Run {
  readonly timeline: readonly { readonly what: string; readonly message?: string }[];
  readonly events: readonly {
    readonly topic: string;
    readonly model: string | null;
    readonly partition: number;
    readonly first_offset: number | null;
    readonly last_offset: number;
    readonly count: number;
  }[];
}

const list = async (query: Record<string, string> = {}): Promise<Page> => {
  const search = new URLSearchParams(query).toString();
  return succeeded(await world.gateway.call('GET', `/runs?${search}`));
};
const ended = (query: Record<string, string>) =>
  eventually(
    () => list(query),
    ({ data }) => data.length > 0 && data.every(({ ended_at }) => ended_at !== null),
  );
const read = async (id: string): Promise<Whole> =>
  succeeded(await world.gateway.call('GET', `/runs/${id}`)).data;

describe('the history of runs', () => {
  it('shows a sync with what it asked, saved and kept, in order', async () => {
    crm.account.contacts = Array.from({ length: 25 }, (_, n) => ({ id: `c-${n}`, name: 'x' }));
    await crm.run('contacts');
    const { data } = await ended({ connection_id: crm.id, function: 'contacts' });
    expect(data).toHaveLength(1);
    const [shown] = data;
    expect(shown).toMatchObject({
      kind: 'sync',
      function: 'contacts',
      provider_config_key: 'crm',
      connection_id: crm.id,
      status: 'succeeded',
      trigger: 'api',
      attempt: 1,
      counts: { Contact: { added: 25, updated: 0, deleted: 0, unchanged: 0 } },
      error: null,
    });
    const run = await eventually(
      () => read(shown?.id ?? ''),
      ({ timeline }) => timeline.some(({ what }) => what === 'checkpoint_cleared'),
    );
    const said = run.timeline.map(({ what }) => what);
    expect(said.slice(0, 2)).toEqual(['queued', 'started']);
    const did = said.filter((what) => !['queued', 'started', 'succeeded'].includes(what));
    expect(did).toEqual([
      'track_deletes_start',
      ...['request', 'save', 'log', 'checkpoint_saved'],
      ...['request', 'save', 'log'],
      'track_deletes_end',
      'checkpoint_cleared',
    ]);
    const at = (what: string) => run.timeline.find((one) => one.what === what);
    expect(at('request')).toMatchObject({
      method: 'GET',
      path: `/${crm.id}/contacts`,
      status: 200,
      attempt: 1,
    });
    expect(at('save')).toMatchObject({ model: 'Contact', count: 20 });
    expect(JSON.parse(at('checkpoint_saved')?.message ?? '')).toEqual({ cursor: '20' });
    expect(at('log')).toMatchObject({ level: 'warn', message: 'Saved 20 contacts' });

    const [steps, changes] = run.events;
    expect(steps).toMatchObject({ topic: 'svc.runs.v1', model: null });
    expect(changes).toMatchObject({ topic: 'svc.records.v1', model: 'Contact', count: 25 });
    for (const { topic, partition, last_offset: offset } of run.events) {
      const path = `/topics/${topic}/messages?partition=${partition}&offset=${offset}&limit=1`;
      const key = world.gateway.accountKey;
      const messages = async (where: string): Promise<readonly Message[]> =>
        succeeded(await world.gateway.call('GET', where, { key })).data;
      const [message] = await messages(path);
      expect(message).toMatchObject({ offset, value: { run_id: run.id } });
      // A key of the message leads to it, wherever it lies.
      const byKey = `/topics/${topic}/messages?key=${encodeURIComponent(message?.key ?? '')}&limit=500`;
      expect((await messages(byKey)).map((one) => one.offset)).toContain(offset);
      // Topics mix environments: no key of one reads them.
      for (const other of [world.gateway.key, world.gateway.prodKey]) {
        const refused = await world.gateway.call('GET', path, { key: other });
        expect(refused.status).toBe(403);
      }
    }
  });

  it('filters, and pages from the newest to the oldest', async () => {
    const other = await world.connect();
    for (const input of [1, 2, 3]) succeeded(await other.action('echo', input));
    expect((await other.action('fail', { how: 'action-error' })).status).toBe(424);
    const of = { connection_id: other.id, kind: 'action' };
    const all = await eventually(
      () => list(of),
      ({ data }) => data.length === 4 && data[0]?.ended_at != null,
    );
    const names = all.data.map((run) => run.function);
    expect(names).toEqual(['fail', 'echo', 'echo', 'echo']);
    const failed = await list({ ...of, status: 'failed' });
    expect(failed.data).toMatchObject([{ function: 'fail', error: { code: expect.any(String) } }]);
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list({
        ...of,
        limit: '3',
        ...(cursor === '' ? {} : { cursor }),
      });
      pages.push(page.data.map(({ id }) => id));
      ({ cursor } = page.pagination);
    }
    expect(pages.map((page) => page.length)).toEqual([3, 1]);
    expect(pages.flat()).toEqual(all.data.map(({ id }) => id));
    expect((await list({ ...of, until: '2020-01-01T00:00:00Z' })).data).toEqual([]);
    expect((await list({ ...of, since: '2020-01-01T00:00:00Z' })).data).toHaveLength(4);
  });

  it('is found by parts of the names of its function, its connection and its end user', async () => {
    const owner = { id: 'u-1', display_name: 'Ann Lee', email: 'ann@lee.example' };
    const owned = await world.connect({ end_user: owner });
    succeeded(await owned.action('echo', 1));
    const found = async (search: string) => {
      const { data } = await eventually(
        () => list({ search, kind: 'action' }),
        ({ data: runs }) => runs.length > 0,
      );
      return data.map((run) => run.connection_id);
    };
    expect(await found('nn LE')).toEqual([owned.id]);
    expect(await found('ANN@lee')).toEqual([owned.id]);
    expect(await found(owned.id.slice(4, 20))).toEqual([owned.id]);
    expect(await found('CH')).toContain(owned.id);
    expect((await list({ search: 'no such word' })).data).toEqual([]);
    const logged = async (search: string) => {
      const body = { search, types: ['action'] };
      const answer = await world.gateway.call('POST', '/logs/operations', { body });
      return succeeded(answer).data as { connectionId: string }[];
    };
    const operations = await eventually(
      () => logged('nn LE'),
      (data) => data.length > 0,
    );
    expect(operations).toMatchObject([{ connectionId: owned.id }]);
  });

  it('is of one environment, and refuses what it does not know', async () => {
    const refusal = async (path: string, key = world.gateway.key) => {
      const { status, body } = await world.gateway.call('GET', path, { key });
      return [status, body.error?.code];
    };
    const { data } = await list({ connection_id: crm.id });
    const { prodKey } = world.gateway;
    expect(await refusal(`/runs/${data[0]?.id}`, prodKey)).toEqual([404, 'not_found']);
    expect(await refusal(`/runs/${randomUUID()}`)).toEqual([404, 'not_found']);
    expect(await refusal('/runs?cursor=x')).toEqual([400, 'invalid_cursor_value']);
    expect(await refusal('/runs?status=lost')).toEqual([400, 'invalid_query_params']);
    expect(await refusal('/runs?since=yesterday')).toEqual([400, 'invalid_query_params']);
  });
});

describe('the input of a run', () => {
  const inputOf = async (id: string, key = world.gateway.key) => {
    const { status, body } = await world.gateway.call('GET', `/runs/${id}/input`, { key });
    return status === 200 ? body.data : body.error.code;
  };

  it('is that of an action, for those who may run it, until its connection is deleted', async () => {
    const other = await world.connect();
    const body = { action_name: 'echo', input: { n: [1, 'two', null] } };
    const headers = { ...other.headers, 'x-async': 'true' };
    succeeded(await other.action('echo', body.input));
    succeeded(await world.gateway.call('POST', '/action/trigger', { headers, body }));
    succeeded(await other.action('echo'));
    const { data } = await eventually(
      () => list({ connection_id: other.id, kind: 'action' }),
      (page) => page.data.length === 3 && page.data.every(({ ended_at }) => ended_at !== null),
    );
    const ids = data.map(({ id }) => id);
    // The input of a run that its caller waited for is stored beside it.
    const inputs = await eventually(
      () => Promise.all(ids.map((id) => inputOf(id))),
      (all) => all.filter(({ stored }) => stored).length === 2,
    );
    const stored = { stored: true, input: body.input };
    expect(inputs.filter((one) => one.stored)).toEqual([stored, stored]);
    expect(inputs).toContainEqual({ stored: false, input: null });
    expect(await inputOf(ids[0]!, world.gateway.prodKey)).toBe('not_found');

    await other.run('contacts');
    const { data: syncs } = await ended({ connection_id: other.id, function: 'contacts' });
    expect(await inputOf(syncs[0]!.id)).toBe('not_found');
    const path = `/connections/${other.id}?provider_config_key=crm`;
    succeeded(await world.gateway.call('DELETE', path));
    const gone = { stored: false, input: null };
    await eventually(
      () => Promise.all(ids.map((id) => inputOf(id))),
      (all) => all.every((one) => !one.stored),
    );
    expect(await inputOf(ids[0]!)).toEqual(gone);
  });
});

describe('runs as they change', () => {
  const tailOf = (query: Record<string, string>, key: string, lastEventId?: string) =>
    eventsOf(`${world.gateway.url}/runs/tail?${new URLSearchParams(query).toString()}`, {
      headers: {
        authorization: `Bearer ${key}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });

  it('are followed from queue to end, and on from where a reader left', async () => {
    const { key } = world.gateway;
    const other = await world.connect();
    const of = { connection_id: other.id, kind: 'action' };
    await using first = await tailOf(of, key);
    await using failures = await tailOf({ ...of, status: 'failed' }, key);
    succeeded(await crm.action('echo', 1));
    succeeded(await other.action('echo', 2));
    const queued = await first.next();
    const rest = [await first.next(), await first.next()];
    const { data } = await ended(of);
    const fixed = { records_readable: null, counts: {}, error: null };
    expect(queued).toMatchObject({ event: 'run', data: { ...fixed, id: data[0]?.id } });
    expect(queued.data).toMatchObject({ status: 'queued', queued_at: expect.any(String) });
    expect(rest.map((one) => one.data.status)).toEqual(['running', 'succeeded']);
    const { started_at: startedAt, ...last } = rest[1]!.data;
    expect({ ...data[0], ...last, records_readable: true }).toEqual({
      ...data[0],
      queued_at: null,
    });
    expect(startedAt).toEqual(expect.any(String));
    expect((await other.action('fail', { how: 'action-error' })).status).toBe(424);
    expect((await failures.next()).data).toMatchObject({ function: 'fail', status: 'failed' });
    await using resumed = await tailOf(of, key, queued.id);
    expect((await resumed.next()).data).toMatchObject({ id: queued.data.id, status: 'running' });
    await expect(tailOf(of, key, 'nonsense')).rejects.toThrow('invalid_cursor_value');
  });

  it('end with their key, and are of all connections for a key that may list those', async () => {
    const account = { key: world.gateway.accountKey };
    const named = { environment_id: world.environmentId, display_name: 'tail' };
    const body = { ...named, scopes: ['environment:logs:read'] };
    const made = await world.gateway.call('POST', '/environment/api-keys', { ...account, body });
    const { id, secret } = succeeded(made).data as { id: string; secret: string };
    await expect(tailOf({}, secret)).rejects.toThrow('forbidden');
    await using tail = await tailOf({ connection_id: crm.id }, secret);
    const which = { environment_id: world.environmentId, key_id: id };
    succeeded(
      await world.gateway.call('DELETE', '/environment/api-keys', { ...account, body: which }),
    );
    await expect(tail.next()).rejects.toThrow('the stream ended');
  });
});

describe('streams of one environment', () => {
  const opened = async (path: string, key: string, headers: object = {}): Promise<number> => {
    const leaving = new AbortController();
    leavings.push(leaving);
    const response = await fetch(`${world.gateway.url}${path}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
      signal: leaving.signal,
    });
    responses.push(response);
    return response.status;
  };
  const leavings: AbortController[] = [];
  /** Held: the stream of one that is collected ends. */
  const responses: Response[] = [];

  beforeAll(async () => {
    const { gateway } = world;
    const key = gateway.prodKey;
    const integration = { provider: 'crm', unique_key: 'crm' };
    succeeded(await gateway.call('POST', '/integrations', { key, body: integration }));
    const functions = { key, body: await compiledFunctions() };
    succeeded(await gateway.call('POST', '/functions/deployments/bundle', functions));
  });

  it.each([
    { path: '/runs/tail', max: limits.environmentTailStreamsMax },
    { path: '/logs/tail', max: limits.environmentTailStreamsMax },
    { path: '/records/stream?model=Contact', max: limits.environmentRecordStreamsMax },
  ])('leave places to others: $path', async ({ path, max }) => {
    const { key, prodKey } = world.gateway;
    const other = await otherConnection();
    const own = path.endsWith('/tail') ? {} : crm.headers;
    try {
      for (let count = 0; count < max; count++) expect(await opened(path, key, own)).toBe(200);
      expect(await opened(path, key, own)).toBe(429);
      expect(await opened(path, prodKey, path.endsWith('/tail') ? {} : other)).toBe(200);
    } finally {
      for (const leaving of leavings.splice(0)) leaving.abort();
    }
    await eventually(
      () => opened(path, key, own),
      (status) => status === 200,
    );
    for (const leaving of leavings.splice(0)) leaving.abort();
  });

  async function otherConnection(): Promise<object> {
    const id = `c-${randomUUID()}`;
    const key = world.gateway.prodKey;
    const body = {
      provider_config_key: 'crm',
      connection_id: id,
      connection_config: { account: id },
      credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
    };
    succeeded(await world.gateway.call('POST', '/connections', { key, body }));
    return { 'provider-config-key': 'crm', 'connection-id': id };
  }
});

describe('whether the records of a run can be read', () => {
  it('is not known while it goes on', async () => {
    const slow = await world.connect();
    await slow.trigger('stepwise');
    await slow.account.came('/steps/1');
    const { data } = await eventually(
      () => list({ connection_id: slow.id, status: 'running' }),
      (page) => page.data.length === 1,
    );
    expect(data[0]).toMatchObject({ records_readable: null });
    slow.account.openSteps(6);
    await slow.webhook('stepwise', 1);
    // A read waits two seconds at most for tables that are behind.
    const over = await eventually(
      () => read(data[0]!.id),
      ({ records_readable: isReadable }) => isReadable === true,
    );
    expect(over).toMatchObject({ status: 'succeeded' });
  });

  it('is so at once where it saves nothing', async () => {
    const other = await world.connect();
    succeeded(await other.action('echo', 1));
    const { data } = await ended({ connection_id: other.id, kind: 'action' });
    expect(data).toMatchObject([{ function: 'echo', records_readable: true }]);
  });
});

describe('a run that is cancelled', () => {
  const cancel = (id: string, key = world.gateway.key) =>
    world.gateway.call('POST', `/runs/${id}/cancel`, { key });

  it('ends at once, keeps what it saved, and lets the next one run', async () => {
    const slow = await world.connect();
    await slow.trigger('stepwise');
    await slow.account.came('/steps/1');
    const { data } = await eventually(
      () => list({ connection_id: slow.id, status: 'running' }),
      ({ data: found }) => found.length === 1,
    );
    const { id } = data[0]!;
    expect((await cancel(id, world.gateway.prodKey)).status).toBe(404);
    expect(await cancel(id)).toMatchObject({ status: 200, body: { success: true } });
    const over = await eventually(
      () => read(id),
      ({ status }) => status !== 'running',
    );
    // It had saved a step, and ended without a report of it.
    const end = { status: 'cancelled', error: { code: 'script_aborted' }, records_readable: null };
    expect(over).toMatchObject(end);
    expect(await slow.status('stepwise')).toMatchObject({
      latestExecutionStatus: 'STOPPED',
      records_readable: null,
    });
    expect((await cancel(id)).body.error.code).toBe('not_found');
    slow.account.openSteps(6);
    expect(await slow.run('stepwise')).toMatchObject({ success: true });
  });
});
