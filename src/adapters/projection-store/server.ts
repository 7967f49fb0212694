import { Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient, type ClickHouseSettings } from '@clickhouse/client';
import type { Insert } from '#ports/projection-store.ts';
import {
  drain,
  settingsOf,
  connectionSettings,
  type Connection,
  type RunOptions,
} from './connection.ts';
import { engineCode } from './engine-errors.ts';
import { type ServerAddress, UnusableServer } from './server-address.ts';

/** The server completes the response before its first byte: an error then has its status, and never truncates rows. */
const answerSettings: ClickHouseSettings = { wait_end_of_query: 1 };

/**
 * An insert is acknowledged by most replicas, in sequence per table; a replica that lacks some refuses reads.
 * Otherwise a page could show 101 before 100, and its reader would skip 100 forever.
 */
const quorumSettings: ClickHouseSettings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  select_sequential_consistency: '1',
};

export interface ServerOptions {
  readonly isReplicated: boolean;
  /** Longest duration of a response, ms. */
  readonly timeoutMs: number;
  /** In addition to those of every connection. */
  readonly settings?: ClickHouseSettings;
}

/** One connection to a server over HTTP. Nothing is sent before the first statement. */
export function openServer(
  { origin, user, password, database }: ServerAddress,
  { isReplicated, timeoutMs, settings = {} }: ServerOptions,
): Connection {
  const client = createClient({
    url: origin,
    username: user,
    password,
    database,
    application: 'svc',
    max_open_connections: 1,
    request_timeout: timeoutMs,
    clickhouse_settings: {
      ...answerSettings,
      ...(isReplicated ? quorumSettings : {}),
      // A request without a caller is aborted.
      max_execution_time: Math.ceil(timeoutMs / 1000),
      ...settings,
    },
    // Every error is thrown, and its catcher logs it.
    log: { level: ClickHouseLogLevel.OFF },
  });

  const run = async (query: string, { params }: RunOptions): Promise<Buffer> => {
    const answer = await client.exec({ query, query_params: connectionSettings(params) });
    return drain(answer.stream);
  };
  const insert = async (insert: Insert): Promise<void> => {
    const answer = await client.exec({
      query: insertStatement(insert),
      values: Readable.from([bytesOf(insert.rows)], { objectMode: false }),
    });
    await drain(answer.stream);
  };
  return {
    run: (query, options = {}) =>
      options.isRead === true ? twice(() => run(query, options)) : run(query, options),
    // The token makes repeating the rows idempotent.
    insert: (rows) => twice(() => insert(rows)),
    close: () => client.close(),
  };
}

/** Repeats once when the server closed an idle connection just as it was used. */
async function twice<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!isCutOff(error)) throw error;
    return task();
  }
}

function isCutOff(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : '';
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function insertStatement(insert: Insert): string {
  const settings = Object.entries(settingsOf(insert)).map(
    ([name, value]) => `${name} = ${typeof value === 'string' ? `'${value}'` : value}`,
  );
  return `INSERT INTO ${insert.table} (${insert.columns.join(', ')})
    SETTINGS ${settings.join(', ')} FORMAT TabSeparated`;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** The oldest version with every setting used here; the tests run the SQL on 26.7. */
const oldestVersion = '25.8';

/** Settings that determine what is stored and read: a server without one of them would ignore it silently. */
const neededSettings = [
  'insert_deduplication_token',
  'insert_quorum_parallel',
  'select_sequential_consistency',
  'deduplicate_blocks_in_dependent_materialized_views',
  'use_skip_indexes_if_final_exact_mode',
];
const neededTableSettings = [
  'allow_experimental_replacing_merge_with_cleanup',
  'non_replicated_deduplication_window',
];

/** Codes of authentication failures. */
const refusedUser = new Set(['192', '193', '194', '516']);
const accessDenied = '497';

/**
 * Checks that the server can hold the tables, and creates a missing database. `system` is a connection to the
 * database `system`, which every server has.
 * @throws UnusableServer that names the required change; other errors: the server is away, try again
 */
export async function checkServer(
  system: Connection,
  { origin, user, database }: ServerAddress,
  cluster: string | null,
): Promise<void> {
  try {
    await checkVersion(system, origin);
    await checkSettings(system, origin);
    if (cluster !== null) await checkCluster(system, origin, cluster);
    await makeDatabase(system, database, cluster);
  } catch (error) {
    const code = engineCode(error);
    if (refusedUser.has(code)) {
      throw new UnusableServer(`${origin} refuses the user "${user}" or its password`);
    }
    if (code === accessDenied) {
      const { message } = error as Error;
      throw new UnusableServer(`${origin} does not let the user "${user}" do it all: ${message}`);
    }
    throw error;
  }
}

async function checkVersion(system: Connection, origin: string): Promise<void> {
  const [version = ''] = await column(system, 'SELECT version()');
  if (!isAtLeast(version, oldestVersion)) {
    throw new UnusableServer(
      `${origin} is ClickHouse ${version}; it must be ${oldestVersion} or newer`,
    );
  }
}

/** Compares year and month of a release. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [year = 0, month = 0] = version.split('.').map(Number);
  const [oldestYear = 0, oldestMonth = 0] = oldest.split('.').map(Number);
  return year > oldestYear || (year === oldestYear && month >= oldestMonth);
}

async function checkSettings(system: Connection, origin: string): Promise<void> {
  const existing = await column(
    system,
    `SELECT name FROM system.settings WHERE name IN {names:Array(String)}
     UNION ALL SELECT name FROM system.merge_tree_settings WHERE name IN {names:Array(String)}`,
    { names: [...neededSettings, ...neededTableSettings] },
  );
  const missing = [...neededSettings, ...neededTableSettings].filter(
    (name) => !existing.includes(name),
  );
  if (missing.length > 0) {
    throw new UnusableServer(`${origin} lacks the settings ${missing.join(', ')}`);
  }
}

/** Every node must hold every row: with shards each reader would see another part. */
async function checkCluster(system: Connection, origin: string, cluster: string): Promise<void> {
  const shards = await column(
    system,
    'SELECT DISTINCT toString(shard_num) FROM system.clusters WHERE cluster = {cluster:String}',
    { cluster },
  );
  if (shards.length === 1) return;
  if (shards.length > 1) {
    throw new UnusableServer(
      `the cluster "${cluster}" of ${origin} has ${shards.length} shards; use one of a single shard`,
    );
  }
  const existing = await column(system, 'SELECT DISTINCT cluster FROM system.clusters ORDER BY 1');
  throw new UnusableServer(
    `${origin} knows no cluster "${cluster}"; it knows ${existing.join(', ') || 'none'}`,
  );
}

async function makeDatabase(
  system: Connection,
  database: string,
  cluster: string | null,
): Promise<void> {
  const found = await column(
    system,
    'SELECT name FROM system.databases WHERE name = {database:String}',
    { database },
  );
  if (found.length > 0) return;
  await system.run(databaseStatement(database, cluster));
}

export const databaseStatement = (database: string, cluster: string | null): string =>
  `CREATE DATABASE IF NOT EXISTS \`${database}\`${onCluster(cluster)}`;

/** The part of a statement that has it run on every server of the cluster. */
export const onCluster = (cluster: string | null): string =>
  cluster === null ? '' : ` ON CLUSTER \`${cluster}\``;

/** The first column of the result as text. */
async function column(
  system: Connection,
  sql: string,
  params: Record<string, string | readonly string[]> = {},
): Promise<string[]> {
  const text = await system.run(`${sql} FORMAT TabSeparatedRaw`, { params, isRead: true });
  return text
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
