/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { eventsOf } from '#test/support/judges/event-stream.ts';
import {
  eventually,
  openSharedCrmWorld,
  type CrmConnection,
  type SharedCrmWorld,
  type Page,
} from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
beforeAll(async () => {
  world = await openSharedCrmWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (n: number, name = `Contact ${n}`) => ({
  id: `c-${String(n).padStart(3, '0')}`,
  name,
});
const contacts = (count: number) => Array.from({ length: count }, (_, n) => contact(n));
const idsOf = (records: Page['records']) => records.map(({ id }) => id);
const askedOf = ({ account }: CrmConnection, path: string) =>
  account.asked.map((one) => one.path).filter((one) => one.startsWith(path));
const counts = (added: number, updated: number, deleted: number) => ({
  success: true,
  responseResults: { added, updated, deleted },
});

describe('a sync of pages by cursor', () => {
  let crm: CrmConnection;
  let cursor: string | undefined;
  beforeAll(async () => {
    crm = await world.connect();
    crm.account.contacts = contacts(45);
  });

  it('saves every page, and all of it is there when the webhook says so', async () => {
    expect(await crm.run('contacts')).toMatchObject(counts(45, 0, 0));
    expect(askedOf(crm, '/contacts')).toEqual([
      '/contacts?limit=20',
      '/contacts?limit=20&cursor=20',
      '/contacts?limit=20&cursor=40',
    ]);
    const read = await crm.all('Contact');
    expect(read.map(({ id, name }) => ({ id, name }))).toEqual(contacts(45));
    expect(read[0]?._svc_metadata).toEqual({
      first_seen_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
      last_modified_at: read[0]?._svc_metadata.first_seen_at,
      last_action: 'ADDED',
      deleted_at: null,
      cursor: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
    });
    cursor = read.at(-1)?._svc_metadata.cursor;
    expect(await crm.status('contacts')).toMatchObject({
      type: 'INCREMENTAL',
      latestExecutionStatus: 'SUCCESS',
      latestResult: { Contact: { added: 45, updated: 0, deleted: 0 } },
      recordCount: { Contact: 45 },
      checkpoint: null,
    });
  });

  it('moves no cursor when nothing has changed', async () => {
    expect(await crm.run('contacts')).toMatchObject(counts(0, 0, 0));
    expect(await crm.records('Contact', { cursor: cursor! })).toEqual({
      records: [],
      next_cursor: null,
    });
  });

  it('reads just what has changed after the cursor', async () => {
    const [, ...kept] = contacts(43);
    crm.account.contacts = [
      contact(99),
      ...kept.map((row, n) => (n < 2 ? contact(n + 1, 'New') : row)),
    ];
    expect(await crm.run('contacts')).toMatchObject(counts(1, 2, 3));
    const changes = await crm.all('Contact', cursor);
    const saved = changes.slice(0, 3).map(({ id, _svc_metadata: meta }) => [id, meta.last_action]);
    expect(saved).toEqual([
      ['c-099', 'ADDED'],
      ['c-001', 'UPDATED'],
      ['c-002', 'UPDATED'],
    ]);
    const gone = changes.slice(3);
    expect(idsOf(gone).sort()).toEqual(['c-000', 'c-043', 'c-044']);
    for (const { name, _svc_metadata: meta } of gone) {
      expect(meta).toMatchObject({ last_action: 'DELETED', deleted_at: meta.last_modified_at });
      expect(name).toMatch(/^Contact/);
    }
    expect(await crm.status('contacts')).toMatchObject({ recordCount: { Contact: 43 } });
  });

  it.each([
    ['added', ['c-099']],
    ['updated', ['c-001', 'c-002']],
    ['DELETED', ['c-000', 'c-043', 'c-044']],
    ['updated,added', ['c-001', 'c-002', 'c-099']],
    ['deleted,added', ['c-000', 'c-043', 'c-044', 'c-099']],
  ])('filters by %s', async (filter, ids) => {
    const { records } = await crm.records('Contact', { filter, cursor: cursor! });
    expect(idsOf(records).sort()).toEqual(ids);
  });

  it('filters by time, inclusively, and by id', async () => {
    const [first] = await crm.all('Contact', cursor);
    const at = first!._svc_metadata.last_modified_at;
    for (const name of ['modified_after', 'delta']) {
      const { records } = await crm.records('Contact', { [name]: at, limit: '100' });
      expect(idsOf(records)).toContain('c-099');
      expect(idsOf(records)).not.toContain('c-010');
    }
    const search = 'model=Contact&ids=c-010&ids=c-044&ids=unknown';
    const named = await world.gateway.call('GET', `/records?${search}`, { headers: crm.headers });
    expect(idsOf((named.body as Page).records).sort()).toEqual(['c-010', 'c-044']);
  });

  it('gives every record once to a reader of pages of any size', async () => {
    for (const limit of ['1', '7', '10000']) {
      const ids: string[] = [];
      let next: string | null = null;
      do {
        const at: Record<string, string> = next === null ? {} : { cursor: next };
        const page = await crm.records('Contact', { limit, ...at });
        ids.push(...idsOf(page.records));
        next = page.next_cursor;
      } while (next !== null);
      expect(ids).toHaveLength(46);
      expect(new Set(ids).size).toBe(46);
    }
  });

  it('starts again with an empty cache on request', async () => {
    const more = { opts: { reset: true, emptyCache: true } };
    expect(await crm.run('contacts', { more })).toMatchObject({
      ...counts(43, 0, 0),
      syncType: 'INITIAL',
    });
    expect(await crm.all('Contact')).toHaveLength(43);
    const old = await crm.records('Contact', { cursor: cursor!, limit: '100' });
    expect(old.records).toHaveLength(43);
  });
});

describe('other ways of paging', () => {
  it('by offset, past a 429 that says when to come again; what is gone is found', async () => {
    const crm = await world.connect();
    crm.account.deals = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, amount: id * 10 }));
    crm.account.plan('/deals', { status: 429, headers: { 'retry-after': '1' } });
    expect(await crm.run('deals')).toMatchObject(counts(7, 0, 0));
    const page = (offset: number) => `/deals?limit=3&offset=${offset}`;
    expect(askedOf(crm, '/deals')).toEqual([page(0), page(0), page(3), page(6)]);
    crm.account.deals = crm.account.deals.slice(2);
    expect(await crm.run('deals')).toMatchObject(counts(0, 0, 2));
    const { records } = await crm.records('Deal', { filter: 'deleted' });
    expect(idsOf(records).sort()).toEqual(['1', '2']);
  });

  it('by the Link header, at once when the connection is made; a variant has records of its own', async () => {
    const crm = await world.connect();
    const hook = await crm.webhook('notes', 1);
    expect(hook).toMatchObject({ ...counts(0, 0, 0), syncVariant: 'base' });
    expect(await crm.status('notes')).toMatchObject({ status: 'SUCCESS', frequency: '30m' });

    crm.account.notes = [1, 2, 3, 4, 5].map((n) => ({ id: `n-${n}`, text: `Note ${n}` }));
    const variant = (method: string, name: string) =>
      world.gateway.call(method, `/sync/notes/variant/${name}`, {
        body: { provider_config_key: 'crm', connection_id: crm.id },
      });
    expect(await variant('POST', 'archive')).toMatchObject({
      status: 200,
      body: { name: 'notes', variant: 'archive' },
    });
    expect(await crm.webhook('notes', 2)).toMatchObject({
      ...counts(5, 0, 0),
      syncVariant: 'archive',
    });
    expect(askedOf(crm, '/notes')).toContain('/notes?folder=archive&page=2');
    const archived = await crm.all('Note', null, 'archive');
    expect(archived.map((note) => note['variant'])).toEqual(Array(5).fill('archive'));
    expect(await crm.all('Note')).toEqual([]);

    const refused = async (method: string, name: string) => {
      const { status, body } = await variant(method, name);
      return [status, body.error.code];
    };
    expect(await refused('POST', 'archive')).toEqual([400, 'sync_variant_already_exists']);
    expect(await refused('POST', 'base')).toEqual([400, 'invalid_variant']);
    expect(await refused('DELETE', 'other')).toEqual([404, 'not_found']);
    expect((await variant('DELETE', 'archive')).status).toBe(200);
    const emptied = await eventually(
      () => crm.all('Note', null, 'archive'),
      (left) => left.length === 0,
    );
    expect(emptied).toEqual([]);
  });
});

describe('the stream of a model', () => {
  it('returns its records in order of modification and its head, and continues after a cursor', async () => {
    const crm = await world.connect();
    crm.account.contacts = contacts(3);
    await crm.run('contacts');
    const url = `${world.gateway.url}/records/stream?model=Contact`;
    const headers = { authorization: `Bearer ${world.gateway.key}`, ...crm.headers };
    await using first = await eventsOf(url, { headers });
    const read = [await first.next(), await first.next(), await first.next()];
    expect(read.map(({ event, data }) => [event, data.id])).toEqual([
      ['record', 'c-000'],
      ['record', 'c-001'],
      ['record', 'c-002'],
    ]);
    const last = read[2]!;
    expect(last.id).toBe(last.data._svc_metadata.cursor);
    expect(await first.next()).toMatchObject({ event: 'head', id: last.id });
    crm.account.contacts = [contact(0), contact(1, 'Changed')];
    await crm.run('contacts');
    const changed = await first.next();
    expect(changed.data).toMatchObject({ id: 'c-001', name: 'Changed' });
    // The deletion may become readable later than the change, with a head reported between them.
    let removed = await first.next();
    if (removed.event === 'head') removed = await first.next();
    expect(removed.data).toMatchObject({ _svc_metadata: { last_action: 'DELETED' } });

    await using second = await eventsOf(url, {
      headers: { ...headers, 'last-event-id': read[1]!.id },
    });
    expect((await second.next()).data.id).toBe('c-001');
    for (const [wrong, code] of [
      [{ 'last-event-id': 'nonsense' }, 'invalid_cursor_value'],
      [{ 'connection-id': 'nobody' }, 'unknown_connection'],
      [{ 'connection-id': '' }, 'invalid_headers'],
    ] as const) {
      const refused = await checkedFetch(url, { headers: { ...headers, ...wrong } });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { code } });
    }
  });
});

describe('what a function writes', () => {
  async function scripted(crm: CrmConnection, ...steps: object[]) {
    crm.account.script = steps;
    crm.account.results.length = 0;
    const hook = await crm.run('scripted', { model: 'Item' });
    return { hook, results: crm.account.results.map(({ result }) => result) };
  }
  const save = (...rows: object[]) => ({ do: 'save', rows });

  it('merges deep, deletes and reads back', async () => {
    const crm = await world.connect();
    const whole = { id: 'a', name: 'Ada', address: { city: 'Rome', zip: '1' }, tags: ['x', 'y'] };
    const first = await scripted(
      crm,
      save(whole, { id: 'b', name: 'Bo' }),
      { do: 'update', rows: [{ id: 'a', address: { zip: '2' }, tags: ['z'] }, { id: 'none' }] },
      { do: 'delete', rows: [{ id: 'b' }] },
      { do: 'read', ids: ['a', 'b', 'none'] },
      { do: 'list' },
      { do: 'update', rows: [{ id: 'b', name: null }] },
      { do: 'save', model: 'Part', rows: [{ id: 'p' }] },
    );
    expect(first.hook).toMatchObject({ success: true });
    const merged = { ...whole, address: { city: 'Rome', zip: '2' }, tags: ['z'] };
    expect(first.results[3]).toEqual({
      a: merged,
      b: { id: 'b', name: 'Bo', _metadata: { deleted: true, deleted_at: expect.any(String) } },
    });
    const read = await crm.all('Item');
    expect(read.map(({ _svc_metadata: _, ...record }) => record)).toEqual([
      merged,
      { id: 'b', name: null },
    ]);
    expect(read.map(({ _svc_metadata: meta }) => [meta.last_action, meta.deleted_at])).toEqual([
      ['UPDATED', null],
      ['UPDATED', null],
    ]);
    expect(idsOf(await crm.all('Part'))).toEqual(['p']);
    const second = await scripted(
      crm,
      { do: 'list' },
      { do: 'delete', rows: [{ id: 'a' }] },
      save(whole),
    );
    expect(second.results[0]).toEqual(['a', 'b']);
    const [again] = await crm.all('Item', read[1]?._svc_metadata.cursor);
    expect(again).toMatchObject({ ...whole, _svc_metadata: { last_action: 'ADDED' } });
  });

  it('restores a pruned payload that is saved again, and moves no cursor by it', async () => {
    const crm = await world.connect();
    const rows = [1, 2, 3].map((n) => ({ id: `r-${n}`, name: `Row ${n}` }));
    await scripted(crm, save(...rows));
    const before = await crm.all('Item');
    const body = { model: 'Item', until_cursor: before[1]!._svc_metadata.cursor, limit: 1 };
    const prune = () =>
      world.gateway.call('PATCH', '/records/prune', { headers: crm.headers, body });
    expect((await prune()).body).toEqual({ count: 1, has_more: true });
    expect((await prune()).body).toEqual({ count: 1, has_more: false });
    expect((await prune()).body).toEqual({ count: 0, has_more: false });
    const pruned = await eventually(
      () => crm.all('Item'),
      (records) => records[1]?._svc_metadata.pruned_at !== undefined,
    );
    expect(pruned.map((record) => Object.keys(record).sort())).toEqual([
      ['_svc_metadata', 'id'],
      ['_svc_metadata', 'id'],
      ['_svc_metadata', 'id', 'name'],
    ]);
    expect(pruned[0]?._svc_metadata).toEqual({
      ...before[0]?._svc_metadata,
      pruned_at: expect.any(String),
    });
    const { hook } = await scripted(crm, save(...rows));
    expect(hook).toMatchObject(counts(0, 0, 0));
    expect(await crm.all('Item')).toEqual(before);
  });

  it('keeps metadata, hears its logs out, and sees what it wrote', async () => {
    const crm = await world.connect({ metadata: { a: { deep: 1 }, kept: true } });
    const { hook, results } = await scripted(
      crm,
      { do: 'metadata' },
      { do: 'updateMetadata', metadata: { a: { other: 2 } } },
      { do: 'metadata' },
      { do: 'setMetadata', metadata: { only: 'this' } },
      { do: 'metadata' },
      ...[
        [],
        [null],
        ['x'.repeat(300_000), { level: 'error' }],
        [{ a: [1] }, { level: 'nonsense' }],
      ].map((args) => ({ do: 'log', args })),
      { do: 'connection' },
    );
    expect(hook).toMatchObject({ success: true });
    expect(results[0]).toEqual({ a: { deep: 1 }, kept: true });
    expect(results[2]).toEqual({ a: { other: 2 }, kept: true });
    expect(results[4]).toEqual({ only: 'this' });
    expect(results.at(-1)).toMatchObject({
      connection_id: crm.id,
      credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
      metadata: { only: 'this' },
    });
    expect(await crm.shown()).toMatchObject({ metadata: { only: 'this' } });
  });
});
