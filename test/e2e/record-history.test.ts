/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysLater } from '#test/support/processes/days-later.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
  type Page,
} from '#test/support/worlds/crm-world.ts';
import { cleanLogOf } from '#test/support/worlds/embedded-log.ts';

let world: CrmWorld;
beforeAll(async () => {
  world = await openCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** Runs the steps; resolves with the id of the run, once it can be found. */
async function run(crm: CrmConnection, ...steps: object[]): Promise<string> {
  crm.account.script = steps;
  await crm.run('scripted', { model: 'Item' });
  const query = new URLSearchParams({ connection_id: crm.id, function: 'scripted' });
  const path = `/runs?${query.toString()}`;
  const found = await eventually(
    async () => succeeded(await world.gateway.call('GET', path)).data as { id: string }[],
    ({ length }) => length >= crm.webhooks('scripted', 'Item').length,
  );
  return found[0]!.id;
}
const save = (id: string, name: string) => ({ do: 'save', rows: [{ id, name }] });

const get = (crm: CrmConnection, path: string, query: Readonly<Record<string, string>>) => {
  const search = new URLSearchParams({ model: 'Item', ...query }).toString();
  return world.gateway.call('GET', `${path}?${search}`, { headers: crm.headers });
};
const history = (crm: CrmConnection, id: string, more: Readonly<Record<string, string>> = {}) =>
  get(crm, '/records/history', { id, ...more });
/** All pages as of the time, one record each. */
async function asOf(crm: CrmConnection, at: string): Promise<Page['records']> {
  const found: Page['records'] = [];
  for (let cursor: string | null = null; ;) {
    const more: Record<string, string> = cursor === null ? {} : { cursor };
    const answer = await get(crm, '/records', { as_of: at, limit: '1', ...more });
    const page = succeeded(answer) as Page;
    found.push(...page.records);
    if (page.next_cursor === null) return found;
    cursor = page.next_cursor;
  }
}
const refusal = ({ status, body }: Answer): string => `${status} ${body.error.code as string}`;

/** The stream as it was, its time, and the cursor of its last record. */
interface Moment {
  readonly records: Page['records'];
  readonly at: string;
  readonly cursor: string;
}
async function now(crm: CrmConnection): Promise<Moment> {
  const records = await crm.all('Item');
  const at = new Date(Date.now() + 1).toISOString();
  const cursor = records.at(-1)?._svc_metadata.cursor ?? '';
  // Whatever comes next is later.
  await eventually(
    async () => Date.now(),
    (time) => time > Date.parse(at),
  );
  return { records, at, cursor };
}

interface Told {
  readonly crm: CrmConnection;
  readonly runs: readonly string[];
  readonly moments: readonly Moment[];
}

/** Four runs over two records; what was read after each. */
async function told(mode: 'plain' | 'sealed'): Promise<Told> {
  const key = world.gateway.accountKey;
  const path = `/environments/${world.environmentId}`;
  succeeded(await world.gateway.call('PATCH', path, { key, body: { payload_mode: mode } }));
  const crm = await world.connect();
  const runs: string[] = [];
  const moments: Moment[] = [];
  const steps = [
    [save('a', 'one'), save('b', 'only')],
    [save('a', 'two'), save('c', 'late')],
    [{ do: 'delete', rows: [{ id: 'a' }] }],
    [save('a', 'back')],
  ];
  for (const some of steps) {
    runs.push(await run(crm, ...some));
    moments.push(await now(crm));
  }
  return { crm, runs, moments };
}

const expected = ({ runs }: Told) => [
  ['added', 4, runs[3], 'kept', 'back'],
  ['deleted', 3, runs[2], 'kept', 'two'],
  ['updated', 2, runs[1], 'kept', 'two'],
  ['added', 1, runs[0], 'kept', 'one'],
];
const summary = (body: Answer['body']): unknown[] =>
  (body.changes as Answer['body'][]).map((change) => [
    change.action,
    change.version,
    change.run_id,
    change.payload_state,
    change.payload?.name,
  ]);

async function holds(one: Told): Promise<void> {
  const { crm, moments } = one;
  const answer = succeeded(await history(crm, 'a'));
  expect(summary(answer)).toEqual(expected(one));
  expect(answer).toMatchObject({ id: 'a', next_cursor: null, earlier_changes: 0 });
  for (const { at, cursor, records } of moments) {
    expect(await asOf(crm, at)).toEqual(records);
    expect(await asOf(crm, cursor)).toEqual(records);
  }
}

/** The published events of each mode. */
const all: Told[] = [];

describe.each(['plain', 'sealed'] as const)('records whose payloads are %s', (mode) => {
  let one: Told;
  beforeAll(async () => {
    one = await told(mode);
    all.push(one);
  });

  it('show who and which run wrote each change, and can be read as of a time', async () => {
    await holds(one);
    const [first] = succeeded(await history(one.crm, 'a')).changes;
    expect(first).toMatchObject({ actor: `run:${one.runs[3]}`, sync: 'scripted' });
    expect(first.cursor).toBe(one.moments[3]?.cursor);
  });

  it('page through a history, and filter what stood', async () => {
    const first = succeeded(await history(one.crm, 'a', { limit: '3' }));
    expect(first.earlier_changes).toBeNull();
    const rest = succeeded(await history(one.crm, 'a', { cursor: first.next_cursor }));
    expect([...summary(first), ...summary(rest)]).toEqual(expected(one));
    const { at, records } = one.moments[2]!;
    const deleted = succeeded(await get(one.crm, '/records', { as_of: at, filter: 'deleted' }));
    expect(deleted.records).toEqual(records.filter(({ id }) => id === 'a'));
    const named = succeeded(await get(one.crm, '/records', { as_of: at, ids: 'c' }));
    expect(named.records).toEqual(records.filter(({ id }) => id === 'c'));
  });

  it('refuse a time that is not there, and a record that is not known', async () => {
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
    const old = await get(one.crm, '/records', { as_of: days(29) });
    expect([old.status, old.body.error]).toEqual([
      410,
      expect.objectContaining({
        code: 'history_gone',
        message: expect.stringContaining('28 days'),
      }),
    ]);
    expect(succeeded(await get(one.crm, '/records', { as_of: days(27) })).records).toEqual([]);
    const later = await get(one.crm, '/records', { as_of: days(-1) });
    expect(refusal(later)).toBe('400 invalid_query_params');
    expect(refusal(await get(one.crm, '/records', { as_of: 'soon' }))).toBe(
      '400 invalid_cursor_value',
    );
    expect(refusal(await history(one.crm, 'nobody'))).toBe('404 not_found');
    expect(refusal(await history(one.crm, 'a', { cursor: 'x' }))).toBe('400 invalid_cursor_value');
  });

  it('keep what was pruned to themselves', async () => {
    const crm = await world.connect();
    await run(crm, save('p', 'one'));
    const before = await now(crm);
    const body = { model: 'Item', until_cursor: before.cursor };
    succeeded(await world.gateway.call('PATCH', '/records/prune', { headers: crm.headers, body }));
    const answer = succeeded(await history(crm, 'p'));
    expect(summary(answer)).toEqual([
      ['pruned', 2, null, 'none', undefined],
      ['added', 1, expect.any(String), 'pruned', undefined],
    ]);
    const [record] = await asOf(crm, before.at);
    expect(record).toEqual({
      id: 'p',
      _svc_metadata: { ...before.records[0]?._svc_metadata, pruned_at: expect.any(String) },
    });
    expect(await asOf(crm, new Date().toISOString())).toEqual([record]);
  });
});

describe('the history of records', () => {
  it('is gone with their connection, and with an emptied cache', async () => {
    const crm = await world.connect();
    await run(crm, save('x', 'one'));
    const before = await now(crm);
    crm.account.script = [save('y', 'other')];
    const again = await crm.run('scripted', {
      model: 'Item',
      more: { opts: { reset: true, emptyCache: true } },
    });
    expect(again.success).toBe(true);
    expect(refusal(await history(crm, 'x'))).toBe('404 not_found');
    expect(await asOf(crm, before.at)).toEqual([]);
    succeeded(await world.gateway.call('DELETE', `/connections/${crm.id}?provider_config_key=crm`));
    expect(refusal(await history(crm, 'y'))).toBe('400 unknown_connection');
  });

  it('is read from the log again, and says what compaction took', async () => {
    const withoutTables = (dataDir: string) => rm(join(dataDir, 'clickhouse'), { recursive: true });
    expect(all).toHaveLength(2);
    await world.restart(withoutTables);
    for (const one of all) await holds(one);
    // Compacted, and not yet pruned.
    const later = daysLater(29.5);
    await world.restart((dataDir) => cleanLogOf(dataDir, 29.5), later);
    for (const one of all) {
      expect(summary(succeeded(await history(one.crm, 'a')))).toEqual([
        ['added', 4, one.runs[3], 'kept', 'back'],
        ['deleted', null, null, 'compacted', undefined],
        ['updated', null, null, 'compacted', undefined],
        ['added', null, null, 'compacted', undefined],
      ]);
      const path = `/runs/${one.runs[0]}/revert`;
      expect(refusal(await world.gateway.call('POST', path, { body: {} }))).toBe(
        '410 history_gone',
      );
      const at = new Date(Date.now() + 29 * 86_400_000).toISOString();
      expect(await asOf(one.crm, at)).toEqual(one.moments[3]?.records);
    }
    await world.restart(withoutTables, later);
    for (const one of all) {
      const answer = succeeded(await history(one.crm, 'a'));
      expect(summary(answer)).toEqual([['added', 4, one.runs[3], 'kept', 'back']]);
      expect(answer.earlier_changes).toBe(3);
    }
  });
});
