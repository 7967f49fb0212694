import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseClientConfigOptions } from '@clickhouse/client';
import { createClient } from '@clickhouse/client';
import type { Insert, SqlParams } from '../../ports/projection-store.ts';

/** One connection: it runs one statement after the other. */
export interface Connection {
  readonly client: ClickHouseClient;
  insert(insert: Insert): Promise<void>;
  close(): Promise<void>;
}

/**
 * A block of an insert is taken whole: no threshold below a batch's size may cut it, so that the rows of
 * one table partition become readable together. Views skip a block that they have, too.
 */
const insertSettings = {
  async_insert: 0,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 1_073_741_824,
  max_partitions_per_insert_block: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
};

/** Threads cost a small insert more than they bring. */
const smallInsertBytes = 256 * 1024;

function settingsOf({ rows, deduplicationToken }: Insert): Record<string, string | number> {
  const isSmall = rows.length < smallInsertBytes;
  return {
    ...insertSettings,
    ...(isSmall ? { max_threads: 1, input_format_parallel_parsing: 0 } : {}),
    insert_deduplication_token: deduplicationToken,
  };
}

/** Opens the engine in this process. Only one thread of the process may, for one path (measured.md section 6). */
export async function openEmbedded(path: string): Promise<Connection> {
  // An optional dependency: a deployment with a server does not install it.
  const { createChdbConnection } = await import('chdb/connection');
  const connection = createChdbConnection({ path });
  // It implements the client's interface, but declares it with another copy of the same types.
  type Injected = NonNullable<ClickHouseClientConfigOptions['connection']>;
  const client = createClient({ connection: connection as unknown as Injected });
  return {
    client,
    // The client's own insert would turn the bytes into a string and back.
    insert: async (insert) => {
      await connection.chdb.rawInsert({
        table: insert.table,
        columns: [...insert.columns],
        values: insert.rows,
        format: 'TSV',
        settings: settingsOf(insert),
      });
    },
    close: () => client.close(),
  };
}

/** `url` is http(s), with user, password and database as ClickHouse's clients take them. */
export function openServer(url: string): Connection {
  const client = createClient({ url, max_open_connections: 1, request_timeout: 300_000 });
  return {
    client,
    insert: async (insert) => {
      const settings = Object.entries(settingsOf(insert)).map(
        ([name, value]) => `${name} = ${typeof value === 'string' ? `'${value}'` : value}`,
      );
      const answer = await client.exec({
        query: `INSERT INTO ${insert.table} (${insert.columns.join(', ')})
          SETTINGS ${settings.join(', ')} FORMAT TabSeparated`,
        values: Readable.from([Buffer.from(insert.rows)], { objectMode: false }),
      });
      await drain(answer.stream);
    },
    close: () => client.close(),
  };
}

/** Runs the statement as it is; its FORMAT says what the bytes are. */
export async function run(
  client: ClickHouseClient,
  query: string,
  params: SqlParams | undefined,
): Promise<Buffer> {
  const answer = await client.exec({
    query,
    ...(params === undefined ? {} : { query_params: wire(params) }),
  });
  return drain(answer.stream);
}

/** 64-bit integers travel as text: not every binder takes a bigint. */
function wire(params: SqlParams): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  );
}

async function drain(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
