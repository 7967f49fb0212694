import { expect, it } from 'vitest';
import type { EntityDefinitions } from '#control-plane/entity.ts';
import { ViewStore } from '#control-plane/view-store.ts';
import { joinKey } from '#kernel/ids.ts';
import { connectionEntity, connectionRef } from '#modules/connections/connections/entity.ts';
import {
  type ConnectionQuery,
  connectionSearch,
  connectionTotal,
} from '#modules/connections/connections/search.ts';
import { neverRefreshed, type Connection } from '#modules/connections/connections/state.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';

const definitions: EntityDefinitions = { connection: connectionEntity };
const environments = ['e1', 'e2'];
const letters = [
  'a',
  'A',
  'b',
  'B',
  '1',
  '-',
  '.',
  ' ',
  '@',
  '%',
  '_',
  '/',
  '"',
  'é',
  'İ',
  'ß',
  '😀',
  '\ud800',
];
const milliseconds = [0, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000];
const firstIds = [1, 2 ** 27 - 600, 2 ** 40];

const textOf = (random: Random, most: number): string =>
  Array.from({ length: 1 + random.int(most) }, () => random.pick(letters)).join('');

function connectionOf(random: Random, at: number): Connection {
  const endUser = random.chance(50)
    ? { id: `u${random.int(3)}`, displayName: textOf(random, 30), email: `${textOf(random, 4)}@b` }
    : null;
  return {
    environmentUid: random.pick(environments),
    integrationKey: random.pick(['one', 'two']),
    connectionId: `c${random.int(200)}`,
    uid: String(at),
    id: random.pick(firstIds) + at,
    createdAt: random.pick(milliseconds),
    endUser,
    tags: {},
    errors: [],
    refresh: neverRefreshed,
    isDeleting: random.chance(5),
  } as Partial<Connection> as Connection;
}

/** Every connection is looked at. */
function linear(all: Iterable<Connection>, query: ConnectionQuery): Connection[] {
  const { environmentUid, search = '', integrationKeys, after, limit = 10_000, page = 0 } = query;
  return [...all]
    .filter((one) => !one.isDeleting && one.environmentUid === environmentUid)
    .filter((one) => integrationKeys?.includes(one.integrationKey) ?? true)
    .filter(({ connectionId, endUser }) =>
      [connectionId, endUser?.displayName ?? '', endUser?.email ?? ''].some((text) =>
        text.toWellFormed().toLowerCase().includes(search.toLowerCase()),
      ),
    )
    .filter((one) => after === undefined || inOrder(after, one) < 0)
    .sort(inOrder)
    .slice(limit * page, limit * (page + 1));
}

const inOrder = (
  one: { readonly createdAt: number; readonly id: number },
  other: { readonly createdAt: number; readonly id: number },
): number => other.createdAt - one.createdAt || other.id - one.id;

it.each([
  ['order', {}],
  ['order', { errors: 'none' }],
  ['order', { integrationKeys: ['one', 'two'] }],
  ['named', { connectionId: 'c1' }],
  ['named', { connectionIds: ['c1'] }],
  ['integration', { integrationKeys: ['one'] }],
  ['end_user', { endUserId: 'u1' }],
  ['organization', { endUserOrganizationId: 'o1' }],
  ['failing', { errors: 'any' }],
  ['failing', { errors: 'auth' }],
  ['position', { search: 'a' }],
] as const)('reads an index in the order of the list: %s for %j', (index, filter) => {
  const store = new ViewStore(':memory:', definitions);
  for (const after of [undefined, { createdAt: 5, id: 5 }]) {
    const { sql, values, containing } = connectionSearch({
      environmentUid: 'e1',
      after,
      ...filter,
    });
    const plan = store.database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(containing === undefined ? [] : [0]), ...values)
      .map(({ detail }) => String(detail));
    expect(plan[0]).toContain(`INDEX connections_${index}`);
    const steps = containing === undefined ? 2 : 3;
    expect(plan).toHaveLength(steps);
  }
  store.close();
});

it('a search finds what a look at every connection finds, in the same order', () => {
  const random = seeded(seedOfRun());
  console.info(`seed ${random.seed}`);
  const store = new ViewStore(':memory:', definitions);
  const live = new Map<string, Connection>();
  for (let round = 0; round < 60; round += 1) {
    store.transaction(() => {
      for (let step = 0; step < 20; step += 1) {
        const made = connectionOf(random, 20 * round + step);
        const { environmentUid, integrationKey, connectionId } = made;
        const ref = connectionRef(environmentUid, integrationKey, connectionId);
        const key = joinKey(ref.kind, ...ref.path);
        const before = live.get(key);
        if (before !== undefined && random.chance(30)) {
          store.remove(key);
          live.delete(key);
          continue;
        }
        // A change keeps the place in the list; after a deletion the same name has another.
        const kept = before && { id: before.id, createdAt: before.createdAt };
        const state = { ...made, ...kept };
        store.put(key, ref, JSON.stringify(state));
        live.set(key, JSON.parse(JSON.stringify(state)) as Connection);
      }
    });
    for (const environmentUid of environments) {
      const { total = 0 } = store.database.prepare(connectionTotal.all).get(environmentUid) ?? {};
      expect(total).toBe(linear(live.values(), { environmentUid }).length);
    }
    for (let asked = 0; asked < 20; asked += 1) {
      const after = random.chance(30) ? random.pick([...live.values()]) : undefined;
      const named = random.pick([...live.values()]).endUser?.displayName ?? 'c1';
      const search = random.chance(50) ? named : textOf(random, random.pick([1, 2, 3, 6]));
      const query = {
        environmentUid: random.pick(environments),
        search: search.toWellFormed(),
        ...(random.chance(30) ? { integrationKeys: ['two'] } : {}),
        ...(random.chance(50) ? { limit: 1 + random.int(5), page: random.int(3) } : {}),
        ...(after === undefined ? {} : { after }),
      };
      const found = store.search('connection', connectionSearch(query));
      const ids = found.map(({ state }) => (JSON.parse(String(state)) as Connection).id);
      expect(ids, JSON.stringify(query)).toEqual(linear(live.values(), query).map(({ id }) => id));
    }
  }
  store.clear();
  expect(
    store.search('connection', connectionSearch({ environmentUid: 'e1', search: 'a' })),
  ).toEqual([]);
  store.close();
});
