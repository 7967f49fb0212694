/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

interface Change {
  readonly place: string;
  readonly action: string;
  readonly record_id: string;
  readonly record: { readonly name?: string } | null;
}

interface ChangesPage {
  readonly changes: Change[];
  readonly cursor: string;
  readonly has_more: boolean;
}

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
});
afterAll(() => world[Symbol.asyncDispose]());

const contact = (id: string, name = id) => ({ id, name });
const call = (method: string, path: string, body?: unknown, key?: string) =>
  world.gateway.call(method, `/subscriptions${path}`, {
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { key }),
  });
const page = async (name: string, query = ''): Promise<ChangesPage> =>
  succeeded(await call('GET', `/${name}/changes${query}`));
const shown = ({ action, record_id: id, record }: Change) => [action, id, record?.name ?? null];
const refusal = (status: number, code: string) => ({ status, body: { error: { code } } });

async function save(...list: ReturnType<typeof contact>[]): Promise<void> {
  crm.account.contacts = list;
  expect(await crm.run('contacts')).toMatchObject({ success: true });
}

describe('a subscription', () => {
  it('keeps the position of its reader', async () => {
    const made = succeeded(await call('PUT', '/warehouse', { model: 'Contact' }));
    expect(made.data).toMatchObject({
      name: 'warehouse',
      model: 'Contact',
      connection_id: null,
      parked: 0,
      committed_at: null,
    });
    await save(contact('a'), contact('b'), contact('c'));
    const first = await page('warehouse', '?limit=2');
    expect(first.changes.map(shown)).toEqual([
      ['added', 'a', 'a'],
      ['added', 'b', 'b'],
    ]);
    // Nothing is committed by reading: the next request gets the same.
    expect((await page('warehouse', '?limit=2')).changes).toEqual(first.changes);
    const ahead = await page('warehouse', `?cursor=${first.cursor}`);
    expect(ahead.changes.map(shown)).toEqual([['added', 'c', 'c']]);
    succeeded(await call('POST', '/warehouse/commit', { cursor: first.cursor }));
    expect((await page('warehouse')).changes).toEqual(ahead.changes);
    const behind = succeeded(await call('GET', '/warehouse')).data;
    expect(behind).toMatchObject({ behind: expect.any(Number), committed_at: expect.any(String) });
    const done = succeeded(await call('POST', '/warehouse/commit', { cursor: ahead.cursor })).data;
    expect(done.behind).toBeLessThan(behind.behind as number);
    expect(await page('warehouse')).toMatchObject({ changes: [], has_more: false });
  });

  it('is not set back by a commit that comes late or again', async () => {
    const start = await page('warehouse');
    await save(contact('a', 'A'), contact('b'), contact('c'));
    const next = await page('warehouse', '?wait_s=20');
    succeeded(await call('POST', '/warehouse/commit', { cursor: next.cursor }));
    for (const cursor of [start.cursor, next.cursor]) {
      succeeded(await call('POST', '/warehouse/commit', { cursor }));
      expect((await page('warehouse')).changes).toEqual([]);
    }
  });

  it('stays as it is when it is created again, and refuses another filter', async () => {
    succeeded(await call('PUT', '/warehouse', { model: 'Contact', from: 'start' }));
    expect((await page('warehouse')).changes).toEqual([]);
    const other = await call('PUT', '/warehouse', { model: 'Company' });
    expect(other).toMatchObject(refusal(409, 'conflict'));
  });

  it('is moved back to read again, and forward', async () => {
    const before = await page('warehouse');
    succeeded(await call('POST', '/warehouse/seek', { from: 'start' }));
    const again = await page('warehouse');
    expect(again.changes.map(({ record_id: id }) => id)).toEqual(['a', 'b', 'c', 'a']);
    // A consumer that was reading when it was moved does not skip what is to be read again.
    const late = await call('POST', '/warehouse/commit', { cursor: before.cursor });
    expect(late).toMatchObject(refusal(409, 'conflict'));
    expect((await page('warehouse')).changes).toEqual(again.changes);
    succeeded(await call('POST', '/warehouse/seek', { from: 'end' }));
    expect((await page('warehouse')).changes).toEqual([]);
    const since = new Date().toISOString();
    await save(contact('a', 'Now'), contact('b'), contact('c'));
    succeeded(await call('POST', '/warehouse/seek', { from: since }));
    expect((await page('warehouse', '?wait_s=20')).changes.map(shown)).toEqual([
      ['updated', 'a', 'Now'],
    ]);
  });

  it('parks what cannot be processed until it is released', async () => {
    succeeded(await call('POST', '/warehouse/seek', { from: 'start' }));
    const { changes, cursor } = await page('warehouse');
    const bad = changes[1]!;
    const reason = 'The row has no owner.';
    const parked = await call('POST', '/warehouse/parked', { place: bad.place, reason });
    expect(succeeded(parked).data).toMatchObject({ parked: 1 });
    succeeded(await call('POST', '/warehouse/parked', { place: bad.place, reason }));
    succeeded(await call('POST', '/warehouse/commit', { cursor }));
    const listed = succeeded(await call('GET', '/warehouse/parked')).data;
    expect(listed).toEqual([
      { place: bad.place, reason, replaying: false, parked_at: expect.any(String), change: bad },
    ]);
    const replayed = await call('POST', `/warehouse/parked/${bad.place}/replay`);
    expect(replayed).toMatchObject(refusal(409, 'conflict'));
    succeeded(await call('DELETE', `/warehouse/parked/${bad.place}`));
    expect(succeeded(await call('GET', '/warehouse/parked')).data).toEqual([]);
    const again = await call('DELETE', `/warehouse/parked/${bad.place}`);
    expect(again).toMatchObject(refusal(404, 'not_found'));
  });

  it.each([
    ['PUT', '/no name', {}, 400, 'invalid_uri_params'],
    ['PUT', '/other', { from: 'yesterday' }, 400, 'invalid_body'],
    ['PUT', '/other', { modle: 'Contact' }, 400, 'invalid_body'],
    ['GET', '/nothing', undefined, 404, 'not_found'],
    ['GET', '/nothing/changes', undefined, 404, 'not_found'],
    ['GET', '/warehouse/changes?cursor=nonsense', undefined, 400, 'invalid_cursor_value'],
    ['POST', '/warehouse/commit', { cursor: 'nonsense' }, 400, 'invalid_cursor_value'],
    ['POST', '/warehouse/parked', { place: '0-999999999', reason: 'x' }, 400, 'invalid_body'],
    ['POST', '/warehouse/parked', { place: '99-0', reason: 'x' }, 400, 'invalid_body'],
    ['POST', '/warehouse/parked', { place: 'a-b', reason: 'x' }, 400, 'invalid_body'],
  ])('%s %s with %j is refused', async (method, path, body, status, code) => {
    expect(await call(method, path, body)).toMatchObject(refusal(status, code));
  });

  it('is that of one environment, and shows nothing of another', async () => {
    const { prodKey } = world.gateway;
    expect(await call('GET', '/warehouse', undefined, prodKey)).toMatchObject({ status: 404 });
    succeeded(await call('PUT', '/warehouse', {}, prodKey));
    const own = succeeded(await call('GET', '/warehouse/changes', undefined, prodKey));
    expect(own.changes).toEqual([]);
    const { changes, cursor } = await page('warehouse', '?limit=1').then(async (read) => {
      if (read.changes.length > 0) return read;
      succeeded(await call('POST', '/warehouse/seek', { from: 'start' }));
      return page('warehouse', '?limit=1');
    });
    const { place } = changes[0]!;
    const foreign = await call('POST', '/warehouse/parked', { place, reason: 'x' }, prodKey);
    expect(foreign).toMatchObject(refusal(400, 'invalid_body'));
    const stolen = await call('POST', '/warehouse/commit', { cursor }, prodKey);
    expect(stolen).toMatchObject(refusal(400, 'invalid_cursor_value'));
  });

  it('is gone with its position when it is deleted', async () => {
    succeeded(await call('DELETE', '/warehouse'));
    expect(await call('GET', '/warehouse')).toMatchObject({ status: 404 });
    succeeded(await call('PUT', '/warehouse', {}));
    expect((await page('warehouse')).changes.length).toBeGreaterThan(4);
  });
});
