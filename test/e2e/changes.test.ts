/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any event */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { eventsOf, linesOf } from '#test/support/judges/event-stream.ts';
import {
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

interface Change {
  readonly id: string | null;
  readonly action: string;
  readonly provider_config_key: string | null;
  readonly connection_id: string | null;
  readonly record_id: string;
  readonly seq: number;
  readonly record: { readonly id: string; readonly name?: string } | null;
}

interface ChangesPage {
  readonly changes: Change[];
  readonly cursor: string;
  readonly has_more: boolean;
}

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (id: string, name = id) => ({ id, name });
const contacts = (count: number) => Array.from({ length: count }, (_, n) => contact(`c-${n}`));
const search = (query: Readonly<Record<string, string>>) => new URLSearchParams(query).toString();
const ask = (query: Readonly<Record<string, string>>, key?: string) =>
  world.gateway.call('GET', `/changes?${search(query)}`, key === undefined ? {} : { key });
const page = async (query: Readonly<Record<string, string>>, key?: string): Promise<ChangesPage> =>
  succeeded(await ask(query, key));
const shown = ({ action, record_id: id, record }: Change) => [action, id, record?.name ?? null];

async function save(crm: CrmConnection, ...list: ReturnType<typeof contact>[]): Promise<void> {
  crm.account.contacts = list;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

/** Every page to the end of the log. */
async function walk(query: Readonly<Record<string, string>>) {
  const changes: Change[] = [];
  let cursor: string | undefined;
  for (;;) {
    const read = await page(cursor === undefined ? query : { ...query, cursor });
    changes.push(...read.changes);
    cursor = read.cursor;
    if (!read.has_more) return { changes, cursor };
  }
}

describe('the changes of an environment', () => {
  let first: CrmConnection;
  let second: CrmConnection;
  let cursor: string;

  beforeAll(async () => {
    [first, second] = [await world.connect(), await world.connect()];
    await save(first, ...contacts(25));
    await save(second, contact('s-1'), contact('s-2'));
  });

  it('come page by page, each once, with the whole record, in the order of their stream', async () => {
    const read = await walk({ limit: '7' });
    cursor = read.cursor;
    const of = (crm: CrmConnection) => read.changes.filter((one) => one.connection_id === crm.id);
    expect(of(first).map(shown)).toEqual(contacts(25).map(({ id, name }) => ['added', id, name]));
    expect(of(first).map(({ seq }) => seq)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
    expect(of(second).map(shown)).toEqual([
      ['added', 's-1', 's-1'],
      ['added', 's-2', 's-2'],
    ]);
    expect(new Set(read.changes.map(({ id }) => id)).size).toBe(read.changes.length);
    const { changes } = await page({ limit: '1' });
    expect(changes[0]).toMatchObject({
      provider_config_key: 'crm',
      model: 'Contact',
      variant: 'base',
      sync: 'contacts',
      version: 1,
      deleted_at: null,
      pruned_at: null,
    });
  });

  it('go on behind the cursor with what has changed since', async () => {
    expect(await page({ cursor })).toMatchObject({ changes: [], has_more: false });
    await save(first, contact('c-0', 'Changed'), ...contacts(24).slice(1));
    const read = await page({ cursor });
    expect(read.changes.map(shown)).toEqual([
      ['updated', 'c-0', 'Changed'],
      ['deleted', 'c-24', 'c-24'],
    ]);
    cursor = read.cursor;
  });

  it('are waited for', async () => {
    const waiting = page({ cursor, wait_s: '20' });
    await save(second, contact('s-1'), contact('s-2', 'Later'));
    const read = await waiting;
    expect(read.changes.map(shown)).toEqual([['updated', 's-2', 'Later']]);
    const none = await page({ cursor: read.cursor, wait_s: '1' });
    expect(none).toMatchObject({ changes: [], has_more: false });
  });

  it('can be those of a connection, an integration or a model', async () => {
    const { changes } = await walk({ connection_id: second.id, provider_config_key: 'crm' });
    expect(changes.map(({ record_id: id }) => id)).toEqual(['s-1', 's-2', 's-2']);
    expect((await walk({ model: 'Nothing' })).changes).toEqual([]);
    expect((await walk({ provider_config_key: 'other' })).changes).toEqual([]);
    expect((await walk({ variant: 'base', model: 'Contact' })).changes).toHaveLength(30);
  });

  it('can begin at the end or at a time', async () => {
    const end = await page({ from: 'end' });
    expect(end).toMatchObject({ changes: [], has_more: false });
    const since = new Date().toISOString();
    await save(second, contact('s-1', 'Now'), contact('s-2', 'Later'));
    const expected = [['updated', 's-1', 'Now']];
    expect((await page({ cursor: end.cursor })).changes.map(shown)).toEqual(expected);
    expect((await walk({ from: since })).changes.map(shown)).toEqual(expected);
    expect((await walk({ from: '2020-01-01T00:00:00Z' })).changes).toHaveLength(31);
  });

  it('are not those of another environment', async () => {
    const { prodKey } = world.gateway;
    expect((await page({}, prodKey)).changes).toEqual([]);
    expect((await page({ cursor, connection_id: second.id }, prodKey)).changes).toEqual([]);
  });

  it('need the scope, and a connection where the key may not list them', async () => {
    const keyOf = async (...scopes: string[]) => {
      const named = { environment_id: world.environmentId, display_name: scopes.join(' ') };
      const body = { ...named, scopes };
      const made = await world.gateway.call('POST', '/environment/api-keys', {
        key: world.gateway.accountKey,
        body,
      });
      return (succeeded(made).data as { secret: string }).secret;
    };
    const records = await ask({}, await keyOf('environment:records:read'));
    expect(records).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
    const key = await keyOf('environment:changes:read');
    expect(await ask({}, key)).toMatchObject({ status: 403 });
    const own = await page({ connection_id: second.id }, key);
    expect(own.changes.map(({ connection_id: id }) => id)).toEqual(Array(4).fill(second.id));
  });

  it.each([
    [{ cursor: 'nonsense' }, 'invalid_cursor_value'],
    [
      { cursor: Buffer.from(JSON.stringify(['another log', [0], [0]])).toString('base64url') },
      'invalid_cursor_value',
    ],
    [{ from: 'yesterday' }, 'invalid_query_params'],
    [{ limit: '0' }, 'invalid_query_params'],
    [{ wait_s: '3600' }, 'invalid_query_params'],
    [{ modle: 'Contact' }, 'invalid_query_params'],
  ])('refuse %j', async (query, code) => {
    expect(await ask(query as Record<string, string>)).toMatchObject({
      status: 400,
      body: { error: { code } },
    });
  });

  it('refuse a cursor beyond the end of the log', async () => {
    const [log, offsets, epochs] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [
      string,
      number[],
      number[],
    ];
    const beyond = Buffer.from(JSON.stringify([log, offsets.map(() => 2 ** 50), epochs]));
    expect(await ask({ cursor: beyond.toString('base64url') })).toMatchObject({ status: 400 });
  });
});

describe('the stream of the changes', () => {
  let crm: CrmConnection;
  let query: string;
  const headers = () => ({ authorization: `Bearer ${world.gateway.key}` });
  beforeAll(async () => {
    crm = await world.connect();
    query = `${world.gateway.url}/changes/stream?${search({ connection_id: crm.id })}`;
    await save(crm, contact('a'), contact('b'));
  });

  it('has them as events, and resumes behind the cursor after them', async () => {
    await using events = await eventsOf(query, { headers: headers() });
    const read = [await events.next(), await events.next(), await events.next()];
    expect(read.map(({ event, data }) => [event, data.record_id])).toEqual([
      ['change', 'a'],
      ['change', 'b'],
      ['cursor', undefined],
    ]);
    expect(read[2]?.id).toBe(read[2]?.data.cursor);
    await save(crm, contact('a', 'Changed'), contact('b'));
    await using resumed = await eventsOf(query, {
      headers: { ...headers(), 'last-event-id': read[2]?.id ?? '' },
    });
    for (const stream of [events, resumed]) {
      expect((await stream.next()).data).toMatchObject({ record_id: 'a', action: 'updated' });
    }
  });

  it('has them as lines', async () => {
    const accept = 'application/x-ndjson';
    await using lines = await linesOf(query, { headers: { ...headers(), accept } });
    const read = [await lines.next(), await lines.next(), await lines.next(), await lines.next()];
    expect(read.map(({ record_id: id, cursor }) => id ?? typeof cursor)).toEqual([
      'a',
      'b',
      'a',
      'string',
    ]);
    expect(lines.type).toBe(accept);
  });

  it('is refused with the reason', async () => {
    const refused = await checkedFetch(`${query}&cursor=nonsense`, { headers: headers() });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: { code: 'invalid_cursor_value' } });
  });
});

describe('the changes of a deleted connection', () => {
  it('say what was purged, and show no record any more', async () => {
    const crm = await world.connect();
    await save(crm, contact('gone-1', 'Ada'), contact('gone-2', 'Grace'));
    const { cursor } = await walk({ connection_id: crm.id });
    const path = `/connections/${crm.id}?provider_config_key=crm`;
    succeeded(await world.gateway.call('DELETE', path));
    const purged: Change[] = [];
    let at = cursor;
    while (purged.length < 2) {
      const read = await page({ cursor: at, wait_s: '20', connection_id: crm.id });
      purged.push(...read.changes);
      at = read.cursor;
    }
    expect(purged.map(shown)).toEqual([
      ['purged', 'gone-1', null],
      ['purged', 'gone-2', null],
    ]);
    const { changes } = await walk({ connection_id: crm.id });
    expect(JSON.stringify(changes)).not.toMatch(/Ada|Grace/);
    expect(changes.map(({ action }) => action)).toEqual(['added', 'added', 'purged', 'purged']);
  });
});

describe('the changes of sealed payloads', () => {
  it('are shown in clear to the key of the environment', async () => {
    const settings = { key: world.gateway.accountKey, body: { payload_mode: 'sealed' } };
    const path = `/environments/${world.environmentId}`;
    succeeded(await world.gateway.call('PATCH', path, settings));
    const crm = await world.connect();
    await save(crm, contact('sealed', 'In clear'));
    const { changes } = await walk({ connection_id: crm.id });
    expect(changes.map(shown)).toEqual([['added', 'sealed', 'In clear']]);
  });
});
