import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '#kernel/stable-json.ts';
import { connectorRuns, putConnector, startConnect } from '#test/services/connect.ts';
import { startPostgres, type Postgres } from '#test/services/postgres.ts';
import type { Service } from '#test/services/service.ts';
import { succeeded, type CrmConnection } from '#test/support/worlds/crm-world.ts';
import { connectorEnv, differencesOfTable, rowsOf } from '../table.ts';
import {
  connectorConfig,
  contactFields,
  contacts,
  createTopic,
  deadLetters,
  keyCount,
  messageCount,
  currentRecords,
  deployContact,
  openRecipeWorld,
  syncContacts,
  type RecipeWorld,
  type Report,
} from '../world.ts';

const count = 1_500;
const compareForMs = 120_000;

/** The outcome of a comparison of the table with `GET /records`. */
export interface Outcome {
  readonly records: number;
  readonly rows: number;
  /** Rows that are missing, too many, or of other values. */
  readonly differences: readonly string[];
  /** Messages that could not be read, by their keys. */
  readonly deadLetters: number;
}

interface Parts {
  readonly world: RecipeWorld;
  readonly postgres: Postgres;
  readonly connect: Service;
  readonly connections: readonly CrmConnection[];
}

/** A table of PostgreSQL that follows a typed topic through updates, deletes, a new field, a message that cannot be read, and a killed worker. */
export async function playPostgres(report: Report): Promise<Outcome> {
  await using world = await openRecipeWorld(report);
  report('starting PostgreSQL and a worker of Kafka Connect');
  await using postgres = await startPostgres();
  await using connect = await startConnect({
    brokers: world.brokers,
    env: connectorEnv(world, postgres),
  });
  const connections = [await world.crm.connect(), await world.crm.connect()];
  const parts = { world, postgres, connect, connections };
  await fill(parts, report);
  await change(parts, report);
  await widen(parts, report);
  await poison(parts, report);
  await killWorker(parts, report);
  report('comparing the table with GET /records');
  const outcome = await compared(parts);
  report(`${outcome.records} records, ${outcome.rows} rows, ${outcome.deadLetters} dead letter`);
  report(`${outcome.differences.length} differences`);
  return outcome;
}

async function fill(parts: Parts, report: Report): Promise<void> {
  const { world, connect, connections } = parts;
  report(`saving ${count} contacts of each of two connections, and opting the model in`);
  await deployContact(world, contactFields);
  for (const one of connections) await syncContacts(one, contacts(count, 'first'));
  succeeded(await world.crm.gateway.call('PUT', '/typed-topics/crm/Contact'));
  await createTopic(world, deadLetters);
  report('creating the connector of deploy/connect/jdbc-typed.json');
  await putConnector(connect, await connectorConfig('jdbc-typed.json'));
  await rowsNamed(parts, 'first');
}

async function change(parts: Parts, report: Report): Promise<void> {
  const { connections } = parts;
  report('changing a third of the contacts, and deleting a third');
  const kept = contacts(count, 'first').filter((_, index) => index % 3 !== 0);
  const changed = kept.map((one, index) =>
    index % 2 === 0 ? { ...one, name: `second ${one.id}`, score: null } : one,
  );
  for (const one of connections) await syncContacts(one, changed);
  await rowsNamed(parts, 'second');
}

async function widen(parts: Parts, report: Report): Promise<void> {
  const { world, connections } = parts;
  report('adding a field to the model');
  await deployContact(world, { ...contactFields, city: { type: 'string' } });
  const wider = contacts(count, 'third').map((one) => ({ ...one, city: 'Zürich' }));
  for (const one of connections) await syncContacts(one, wider.slice(0, 900));
  await rowsNamed(parts, 'third');
}

/** Bytes that no schema describes, between the changes. */
async function poison({ world }: Parts, report: Report): Promise<void> {
  report('producing a message that cannot be read');
  const producer = world.kafka.producer();
  await producer.connect();
  const message = { key: 'poison', value: Buffer.from([0, 0, 0, 0, 0, 1, 2, 3]) };
  await producer.send({ topic: 'svc.cdc.dev.crm.contact.v1', messages: [message] });
  await producer.disconnect();
}

async function killWorker(parts: Parts, report: Report): Promise<void> {
  const { connect, connections, postgres } = parts;
  report('killing the worker (SIGKILL) while it writes changes');
  const last = contacts(count, 'fourth').map((one) => ({ ...one, city: 'Genève' }));
  const syncs = Promise.all(connections.map((one) => syncContacts(one, last.slice(100))));
  await rowsNamed(parts, 'fourth');
  await connect.kill();
  const statement = `SELECT count(*)::int AS written FROM crm_contact WHERE name LIKE 'fourth%'`;
  const [found] = await postgres.query<{ written: number }>(statement);
  await syncs;
  report(
    `it had written ${found?.written ?? 0} of ${2 * (count - 100)} changes; starting it again`,
  );
  await connect.restart();
  await connectorRuns(connect, 'contacts-to-postgres');
}

/** Resolves when the table has rows whose name begins so. */
async function rowsNamed({ postgres, connect }: Parts, name: string): Promise<void> {
  const statement = `SELECT 1 FROM crm_contact WHERE name LIKE '${name}%' LIMIT 1`;
  while ((await rowsOf(postgres, statement)).length === 0) {
    await connectorRuns(connect, 'contacts-to-postgres');
    await wait(50);
  }
}

const columns = `_connection_id AS connection, id, name, email, score, "isActive", city,
  to_char("joinedAt", 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "joinedAt"`;

async function compared({ world, connections, postgres }: Parts): Promise<Outcome> {
  const expected = await currentRecords(connections);
  const deadline = performance.now() + compareForMs;
  for (;;) {
    const rows = await rowsOf(postgres, `SELECT ${columns} FROM crm_contact`);
    const differences = differencesOfTable(expected, rows, columnsOf);
    const found = { records: expected.size, rows: rows.length, differences };
    const parked = await messageCount(world, deadLetters);
    const isDone = differences.length === 0 && parked > 0;
    if (isDone || performance.now() > deadline) {
      return { ...found, deadLetters: await keyCount(world, deadLetters) };
    }
    await wait(250);
  }
}

/** Undeclared fields have no column; a field that the record lacks is null. */
const columnsOf = ({ note: _undeclared, ...fields }: JsonObject): JsonObject => ({
  city: null,
  ...fields,
});
