import { Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { Insert } from '#ports/projection-store.ts';
import {
  drain,
  settingsOf,
  connectionSettings,
  type Connection,
  type RunOptions,
} from './connection.ts';
import type { ServerAddress } from './server-address.ts';

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
}

/** One connection to a server over HTTP. Nothing is sent before the first statement. */
export function openServer(
  { origin, user, password, database }: ServerAddress,
  { isReplicated, timeoutMs }: ServerOptions,
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
