import { setTimeout as wait } from 'node:timers/promises';
import type { JsonObject } from '#kernel/stable-json.ts';
import { connectorRuns, putConnector, startConnect } from '#test/services/connect.ts';
import { startPostgres, type Postgres } from '#test/services/postgres.ts';
import type { Service } from '#test/services/service.ts';
import { succeeded, type CrmConnection } from '#test/support/worlds/crm-world.ts';
import { connectorEnv, differencesOfTable, rowsOf, type Row } from '../table.ts';
import {
  connectorConfig,
  contactFields,
  contacts,
  createTopic,
  currentRecords,
  deadLetters,
  deployContact,
  messageCount,
  openRecipeWorld,
  syncContacts,
  type RecipeWorld,
  type Report,
} from '../world.ts';

const count = 60;
const compareForMs = 120_000;

/** What Debezium's transforms make of the envelope. */
export interface Unwrapped {
  readonly records: number;
  readonly differences: readonly string[];
  /** Rows whose columns of the envelope are wrong. */
  readonly mistakes: readonly string[];
  readonly deadLetters: number;
}

/** A row with what the transforms add. */
interface Added {
  readonly op: string;
  readonly changed: readonly string[] | null;
  readonly us: string;
  readonly ns: string;
}

/** Debezium's transforms read old rows, structured keys and nanoseconds of a typed topic, on a worker. */
export async function playDebezium(report: Report): Promise<Unwrapped> {
  await using world = await openRecipeWorld(report);
  report('starting PostgreSQL and a worker of Kafka Connect');
  await using postgres = await startPostgres();
  const env = connectorEnv(world, postgres);
  await using connect = await startConnect({ brokers: world.brokers, env });
  report('saving contacts, and opting the model in with old rows and structured keys');
  await deployContact(world, contactFields);
  const crm = await world.crm.connect();
  const first = contacts(count, 'first');
  await syncContacts(crm, first);
  const path = '/typed-topics/crm/Contact?before=true&ts_ns=true&key=struct';
  succeeded(await world.crm.gateway.call('PUT', path));
  await createTopic(world, deadLetters);
  report('creating the connector of deploy/connect/jdbc-unwrapped.json');
  await putConnector(connect, await connectorConfig('jdbc-unwrapped.json'));
  while ((await rowsOf(postgres, 'SELECT id FROM crm_contact')).length < count) {
    await connectorRuns(connect, 'contact-changes-to-postgres');
    await wait(100);
  }
  report('changing some contacts, deleting some, and adding some');
  const renamed = first.slice(10, 40).map((one) => ({ ...one, name: 'renamed', score: 99 }));
  const added = contacts(count + 10, 'added').slice(count);
  await syncContacts(crm, [...renamed, ...first.slice(40), ...added]);
  report('comparing the table with GET /records');
  const parts = { world, postgres, connect, crm };
  const outcome = await compared(parts, report);
  report('emptying the table, and requesting a snapshot while contacts change');
  await postgres.query('TRUNCATE crm_contact');
  const last = renamed.map((one) => ({ ...one, score: 100 }));
  const request = world.crm.gateway.call('PUT', `${path}&snapshot=after-the-loss`);
  const [answer] = await Promise.all([request, syncContacts(crm, [...last, ...first.slice(40)])]);
  succeeded(answer);
  const again = await compared(parts, report);
  return {
    ...again,
    differences: [...outcome.differences, ...again.differences],
    mistakes: outcome.mistakes,
  };
}

interface Parts {
  readonly world: RecipeWorld;
  readonly postgres: Postgres;
  readonly connect: Service;
  readonly crm: CrmConnection;
}

async function compared(
  { world, postgres, connect, crm }: Parts,
  report: Report,
): Promise<Unwrapped> {
  const expected = await currentRecords([crm]);
  const deadline = performance.now() + compareForMs;
  for (;;) {
    await connectorRuns(connect, 'contact-changes-to-postgres');
    const rows = (await rowsOf(postgres, statement)) as (Row & { added: Added })[];
    const fields = rows.map(({ added: _, ...row }) => row as Row);
    const differences = differencesOfTable(expected, fields, columnsOf);
    const mistakes = rows.flatMap((row) => mistakesOf(row, row.added));
    if (differences.length === 0 || performance.now() > deadline) {
      const parked = await messageCount(world, deadLetters);
      report(`${expected.size} records, ${rows.length} rows, ${parked} dead letters`);
      report(`${differences.length} differences`);
      return { records: expected.size, differences, mistakes, deadLetters: parked };
    }
    await wait(250);
  }
}

const statement = `SELECT _connection_id AS connection, id, name, email, score, "isActive",
  to_char("joinedAt", 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "joinedAt",
  json_build_object('op', __op, 'changed', __changed, 'us', __source_ts_us::text,
    'ns', __source_ts_ns::text) AS added FROM crm_contact`;

const columnsOf = ({ note: _undeclared, ...fields }: JsonObject): JsonObject => fields;

function mistakesOf(row: Row, { op, changed, us, ns }: Added): string[] {
  const name = row['name'] as string;
  const isRenamed = name === 'renamed';
  const expected = name.startsWith('added') ? 'c' : isRenamed ? 'u' : 'r';
  const fields = JSON.stringify(changed?.toSorted() ?? []);
  const isRight =
    op === expected && ns === `${us}000` && (!isRenamed || fields === '["name","score"]');
  return isRight ? [] : [JSON.stringify(row)];
}
