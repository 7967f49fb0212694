import type { ClickHouseClientConfigOptions } from '@clickhouse/client';
import { createClient } from '@clickhouse/client';
import type { SqlParams } from '#ports/projection-store.ts';
import type { ConnectionSettings } from './caller-query.ts';
import { drain, settingsOf, connectionSettings, type Connection } from './connection.ts';
import { runStatement } from './statements.ts';

/**
 * The engine looks at its memory every 50 ms, which takes 0.2 % of a core at rest: it is there for limits close to the
 * memory of the machine, which these tables have not.
 */
const engineArgs = [
  '--memory_worker_period_ms=5000',
  // The disk of a dropped table is free soon; the engine's default is 8 minutes.
  '--database_atomic_delay_before_drop_table_sec=2',
];

/**
 * Starts the engine with its settings: the first session of a process decides them. Dispose of it when connections are open.
 */
export async function startEngine(path: string): Promise<Disposable> {
  const { Session } = await import('chdb');
  return new Session(path, { connectionArgs: engineArgs });
}

/** Opens the engine in this process. One thread of the process at most, per path. */
export async function openEmbedded(path: string): Promise<Connection> {
  // An optional dependency: a deployment with a server does not install it.
  const { createChdbConnection } = await import('chdb/connection');
  const connection = createChdbConnection({ path });
  // It implements the client's interface, but with another copy of the same types.
  type EngineConnection = NonNullable<ClickHouseClientConfigOptions['connection']>;
  const client = createClient({ connection: connection as unknown as EngineConnection });
  const send = async (query: string, params?: SqlParams): Promise<Buffer> => {
    const answer = await client.exec({
      query,
      ...(params === undefined ? {} : { query_params: connectionSettings(params) }),
    });
    return drain(answer.stream);
  };
  let hasRest = false;
  /** The engine puts what a failed statement has answered before the answer of the next one, whose rows it would be. */
  const discardRest = async (): Promise<void> => {
    if (!hasRest) return;
    await send('SELECT 1 FORMAT Null');
    hasRest = false;
  };
  const afterRest = <T>(statement: () => Promise<T>): Promise<T> =>
    runStatement(async () => {
      await discardRest();
      try {
        return await statement();
      } catch (error) {
        hasRest = true;
        // Where this fails, the next statement tries it again before it is sent.
        await discardRest().catch(() => undefined);
        throw error;
      }
    });
  return {
    run: (query, { params } = {}) => afterRest(() => send(query, params)),
    // The client's own insert would convert the bytes to a string and back.
    insert: (insert) =>
      afterRest(async () => {
        await connection.chdb.rawInsert({
          table: insert.table,
          columns: [...insert.columns],
          values: insert.rows,
          format: 'TSV',
          settings: settingsOf(insert),
        });
      }),
    close: () => client.close(),
  };
}

/** A connection for the queries of callers: its settings hold for its life. */
export async function openEmbeddedReader(
  path: string,
  database: string,
  settings: ConnectionSettings,
): Promise<Connection> {
  const connection = await openEmbedded(path);
  try {
    await connection.run(`USE \`${database}\``);
    for (const [name, value] of Object.entries(settings)) {
      await connection.run(`SET ${name} = ${typeof value === 'string' ? `'${value}'` : value}`);
    }
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}
