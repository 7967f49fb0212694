/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access -- a test looks into any answer */
import type { Row } from '../fakes/fake-provider.ts';
import type { Answer, GatewayAccess } from '../processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from './crm-world.ts';

/** A projection as the command line would send it: rows with id, name and length of the name. */
export const contactNames = (map: string, key: readonly string[] = []): object => ({
  version: '1.0.0',
  description: 'Names of contacts.',
  models: ['Contact'],
  row: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      connection_id: { type: 'string' },
      length: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      seen_at: { type: 'string', format: 'date-time' },
      words: { type: 'array', items: { type: 'string' } },
    },
    required: ['id', 'name', 'connection_id', 'length', 'seen_at', 'words'],
  },
  key,
  bundle: bundleOf(map),
  source: '',
});

const bundleOf = (map: string): string => `
const { createProjection } = require('svc');
const { z } = require('zod');
module.exports = createProjection({
  description: 'Names of contacts.',
  from: { models: ['Contact'] },
  row: z.object({
    id: z.string(),
    name: z.string(),
    connection_id: z.string(),
    length: z.int().nullable(),
    seen_at: z.iso.datetime({ offset: true }),
    words: z.array(z.string()),
  }),
  map: (change) => ${map},
});`;

/** One row for each contact. */
export const rowOfContact = (name = 'change.record.name'): string => `({
  id: change.record_id,
  name: ${name},
  connection_id: change.connection_id,
  length: change.record.name.length,
  seen_at: change.first_seen_at,
  words: change.record.name.split(' '),
})`;

export const deployProjection = (
  gateway: GatewayAccess,
  name: string,
  body: object,
): Promise<Answer> => gateway.call('PUT', `/custom-projections/${name}`, { body });

/** The rows of a query; none while the view is not made yet. */
export async function projectedRows(
  gateway: GatewayAccess,
  query: string,
): Promise<readonly (readonly unknown[])[]> {
  const { status, body } = await gateway.call('POST', '/sql', { body: { query } });
  if (status !== 200) return [];
  return (body as { readonly rows: readonly (readonly unknown[])[] }).rows;
}

/** Resolves when the query has the rows; else with what it has in the end. */
export const rowsOnceAre = (
  gateway: GatewayAccess,
  query: string,
  expected: readonly (readonly unknown[])[],
): Promise<readonly (readonly unknown[])[]> =>
  eventually(
    () => projectedRows(gateway, query),
    (rows) => JSON.stringify(rows) === JSON.stringify(expected),
  ).catch(() => projectedRows(gateway, query));

interface Listed {
  readonly name: string;
  readonly projection: string;
  readonly state: string;
  readonly failed_records: number;
  readonly failures: readonly { readonly record_id: string; readonly error: string }[];
}

export async function listedProjection(
  gateway: GatewayAccess,
  name: string,
): Promise<Listed | undefined> {
  const { data } = succeeded(await gateway.call('GET', '/custom-projections'));
  return (data as readonly Listed[]).find((one) => one.name === name);
}

/** Contacts `c-0`, `c-1`, …, whose names begin alike. */
export const contactsNamed = (name: string, count: number): Row[] =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `${name} ${n}` }));

/** All rows of `contacts`, and those of different records. */
export const figures = 'SELECT toUInt32(count()), toUInt32(uniqExact(id)) FROM contacts';

interface Generation {
  readonly generation: number;
  readonly state: string;
}

interface Generations {
  readonly active_generation: number;
  readonly generations: readonly Generation[];
}

/** A gateway with connections whose contacts are synced, and the projection `contacts` that a test deploys over them. */
export interface ProjectionWorld extends AsyncDisposable {
  readonly world: CrmWorld;
  /** The first of the connections. */
  readonly crm: CrmConnection;
  readonly connections: readonly CrmConnection[];
  /** Syncs the contacts of the first connection. */
  save(contacts: readonly Row[]): Promise<void>;
  deploy(map: string): Promise<void>;
  delete(): Promise<void>;
  rows(query: string): Promise<readonly (readonly unknown[])[]>;
  /** As `rowsOnceAre`. */
  rowsOnceAre(
    query: string,
    expected: readonly (readonly unknown[])[],
  ): Promise<readonly (readonly unknown[])[]>;
  /** Resolves when it is in one of the states. */
  stateOnceIs(...states: readonly string[]): Promise<Listed | undefined>;
  readonly generations: () => Promise<Generations>;
  /** An operator's request, such as `switch`. */
  order(path: string, body?: object): Promise<Answer>;
}

/** @param options of the gateway; how many connections, and the contacts of each */
export async function openProjectionWorld({
  connections: count = 1,
  contacts,
  ...options
}: Parameters<typeof openCrmWorld>[0] & {
  readonly connections?: number;
  readonly contacts: readonly Row[];
}): Promise<ProjectionWorld> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openCrmWorld(options));
  const connections: CrmConnection[] = [];
  for (let made = 0; made < count; made += 1) connections.push(await world.connect());
  const save = async (crm: CrmConnection, saved: readonly Row[]): Promise<void> => {
    crm.account.contacts = [...saved];
    const { success, error } = await crm.run('contacts');
    if (!success) throw new Error(`the contacts were not synced: ${error.description}`);
  };
  await Promise.all(connections.map((crm) => save(crm, contacts)));
  const [crm] = connections;
  if (crm === undefined) throw new Error('a world without a connection');
  const account = () => ({ key: world.gateway.accountKey });
  const path = '/projections/dev.contacts';
  const opened = stack.move();
  return {
    world,
    crm,
    connections,
    save: (saved) => save(crm, saved),
    async deploy(map) {
      succeeded(await deployProjection(world.gateway, 'contacts', contactNames(map)));
    },
    async delete() {
      succeeded(await world.gateway.call('DELETE', '/custom-projections/contacts'));
    },
    rows: (query) => projectedRows(world.gateway, query),
    rowsOnceAre: (query, expected) => rowsOnceAre(world.gateway, query, expected),
    stateOnceIs: (...states) =>
      eventually(
        () => listedProjection(world.gateway, 'contacts'),
        (one) => states.includes(one?.state ?? ''),
      ),
    generations: async () =>
      succeeded(await world.gateway.call('GET', path, account())).data as Generations,
    order: (step, body = {}) =>
      world.gateway.call('POST', `${path}/${step}`, { ...account(), body }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
