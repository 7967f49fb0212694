/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-argument, typescript/no-unsafe-call, typescript/no-unsafe-return --
   a test looks into any answer */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  await record('sync', 'contacts', true);
  await record('action', 'request', true);
  await record('sync', 'scripted', true);
});
afterAll(() => world[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: object, key?: string): Promise<Answer> =>
  world.gateway.call(method, path, {
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
const codeOf = ({ status, body }: Answer): string => `${status} ${body?.error?.code ?? ''}`;
const sourceOf = (path: string): string =>
  readFileSync(new URL(`functions/crm/${path}.ts`, import.meta.url), 'utf8');

async function record(type: string, name: string, isRecorded: boolean): Promise<void> {
  const path = `/integrations/crm/functions/${name}/recording?type=${type}`;
  const { data } = succeeded(await call('PUT', path, { record_calls: isRecorded }));
  expect(data.record_calls).toBe(isRecorded);
}

const contacts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `Contact ${n}` }));

/** The newest run of the function on the connection. */
async function runOf({ id }: CrmConnection, name: string): Promise<Answer['body']> {
  const listed = () => call('GET', `/runs?connection_id=${id}&function=${name}&limit=1`);
  const { data } = await eventually(
    async () => succeeded(await listed()),
    ({ data: found }) => found[0]?.ended_at != null,
  );
  return data[0];
}

/** The difference of a replay of the run. */
async function replayed(runId: string, code?: string) {
  const begun = succeeded(await call('POST', `/runs/${runId}/replays`, { code }));
  const ended = await eventually(
    async () => succeeded(await call('GET', `/functions/dryruns/${begun.id}`)),
    ({ status }) => status === 'success' || status === 'failed',
  );
  expect(ended.error).toBeUndefined();
  return { begun, difference: ended.result };
}

/** What the world has that a replay must not touch. */
async function outside(crm: CrmConnection): Promise<object> {
  return {
    requests: crm.account.asked.length,
    records: await crm.all('Contact'),
    items: await crm.all('Item'),
    connection: (await crm.shown()).metadata,
    checkpoint: (await crm.status('contacts')).checkpoint,
    webhooks: [...crm.webhooks('contacts'), ...crm.webhooks('scripted')].length,
  };
}

describe('a run whose calls were recorded', () => {
  it('is replayed identically, and with one changed line differs by that line', async () => {
    const crm = await world.connect();
    crm.account.contacts = contacts(45);
    await crm.run('contacts');
    const run = await runOf(crm, 'contacts');
    const before = await outside(crm);
    const { begun, difference } = await replayed(run.id);
    expect(begun).toMatchObject({ attempt: 1, same_code: true });
    expect(begun.recorded_bytes).toBeGreaterThan(0);
    expect(difference).toMatchObject({
      identical: true,
      outcome: null,
      checkpoint: null,
      records: { Contact: { same: 45, changed: 0, only_recorded: 0, only_replayed: 0 } },
      requests: { unanswered: [], not_made: [] },
    });
    const line = "await svc.batchSave(page, 'Contact');";
    const source = sourceOf('syncs/contacts');
    expect(source).toContain(line);
    const other = source.replace(
      line,
      "await svc.batchSave(page.map((one) => (one.id === 'c-7' ? { ...one, name: 'Seven' } : one)), 'Contact');",
    );
    const { difference: changed } = await replayed(run.id, other);
    expect(changed).toMatchObject({
      identical: false,
      outcome: null,
      records: {
        Contact: {
          same: 44,
          changed: 1,
          only_recorded: 0,
          only_replayed: 0,
          differences: [
            {
              id: 'c-7',
              recorded: { action: 'save', record: { id: 'c-7', name: 'Contact 7' } },
              replayed: { action: 'save', record: { id: 'c-7', name: 'Seven' } },
            },
          ],
        },
      },
      logs: { only_recorded: [], only_replayed: [] },
    });
    expect(await outside(crm)).toEqual(before);
    // The timeline is sent in the background.
    const notes = await eventually(
      async (): Promise<{ readonly count: number; readonly message: string }[]> =>
        succeeded(await call('GET', `/runs/${run.id}`)).data.timeline.filter(
          ({ what }: { what: string }) => what === 'recorded',
        ),
      (all) => all.length > 0,
    );
    expect(notes).toMatchObject([{ count: begun.recorded_calls }]);
    expect(notes[0]?.message).toContain(`${begun.recorded_bytes} bytes`);
  });

  it('names a request that has no recorded response', async () => {
    const crm = await world.connect();
    crm.account.contacts = contacts(3);
    await crm.run('contacts');
    const { id } = await runOf(crm, 'contacts');
    const other = sourceOf('syncs/contacts').replace(
      "endpoint: '/contacts'",
      "endpoint: '/people'",
    );
    const asked = crm.account.asked.length;
    const { difference } = await replayed(id, other);
    expect(difference).toMatchObject({
      identical: false,
      outcome: { recorded: { status: 'succeeded' }, replayed: { status: 'failed' } },
      records: { Contact: { only_recorded: 3, same: 0 } },
      requests: { unanswered: ['GET /people'], not_made: ['GET /contacts'] },
    });
    expect(crm.account.asked).toHaveLength(asked);
  });

  it('keeps what failed, and what a run wrote beside records', async () => {
    const crm = await world.connect();
    crm.account.script = [
      { do: 'save', rows: [{ id: 'a' }] },
      { do: 'throw', message: 'no luck' },
    ];
    await crm.run('scripted', { model: 'Item' });
    const { id, status } = await runOf(crm, 'scripted');
    expect(status).toBe('failed');
    const before = await outside(crm);
    crm.account.script = [];
    const { difference } = await replayed(id);
    expect(difference).toMatchObject({ identical: true, records: { Item: { same: 1 } } });
    expect(await outside(crm)).toEqual(before);
  });

  it('of an action is replayed with its input and compared by its output', async () => {
    const crm = await world.connect();
    succeeded(await crm.action('request', { endpoint: '/contacts' }));
    const { id } = await runOf(crm, 'request');
    const { difference } = await replayed(id);
    expect(difference).toMatchObject({ identical: true, outcome: null });
  });
});

describe('a replay is refused', () => {
  it('of a run of another tenant, of one that was not recorded, and with code that does not compile', async () => {
    const crm = await world.connect();
    await crm.run('contacts');
    const { id } = await runOf(crm, 'contacts');
    const foreign = await call('POST', `/runs/${id}/replays`, {}, world.gateway.prodKey);
    expect(codeOf(foreign)).toBe('404 not_found');
    const unknown = '/integrations/crm/functions/nothing/recording?type=sync';
    expect(codeOf(await call('PUT', unknown, { record_calls: true }))).toBe('404 not_found');
    const broken = { code: 'const x: = 1' };
    const compiled = () => call('POST', `/runs/${id}/replays`, broken);
    // An environment compiles one at a time.
    const codes = (await Promise.all([1, 2, 3, 4].map(compiled))).map(codeOf);
    expect(new Set(codes)).toEqual(
      new Set(['400 compilation_error', '503 execution_environment_unavailable']),
    );
    const { begun } = await replayed(id);
    const again = await call('POST', `/runs/${begun.id}/replays`, {});
    expect(codeOf(again)).toBe('409 conflict');
    await crm.run('deals', { model: 'Deal' });
    const { id: plain } = await runOf(crm, 'deals');
    const refused = await call('POST', `/runs/${plain}/replays`, {});
    expect(codeOf(refused)).toBe('404 not_found');
    expect(refused.body.error.message).toContain('were not recorded');
  });

  it('after the connection was deleted', async () => {
    const crm = await world.connect();
    await crm.run('contacts');
    const { id } = await runOf(crm, 'contacts');
    succeeded(await call('DELETE', `/connections/${crm.id}?provider_config_key=crm`));
    const refused = await eventually(
      () => call('POST', `/runs/${id}/replays`, {}),
      (answer) => codeOf(answer).endsWith('unknown_connection'),
    );
    expect(codeOf(refused)).toBe('404 unknown_connection');
  });
});
