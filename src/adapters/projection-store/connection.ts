import type { Readable } from 'node:stream';
import type { Insert, SqlParams } from '#ports/projection-store.ts';

/** One connection: statements are sequential. */
export interface Connection {
  /** Runs the statement unchanged; its FORMAT determines the bytes. */
  run(statement: string, options?: RunOptions): Promise<Buffer>;
  insert(insert: Insert): Promise<void>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly params?: SqlParams | undefined;
  /** A read-only statement may be repeated when no response arrived. */
  readonly isRead?: boolean;
}

/**
 * An insert is one block: no threshold below a batch's size may split it, so that the rows of one table partition
 * become readable together. Views also skip a block that they have already.
 */
const insertSettings = {
  async_insert: 0,
  min_insert_block_size_rows: 1_048_576,
  min_insert_block_size_bytes: 1_073_741_824,
  max_partitions_per_insert_block: 0,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Splitting the rows for several threads costs more processor time than parsing them with one.
  max_threads: 1,
  input_format_parallel_parsing: 0,
};

export const settingsOf = ({ deduplicationToken }: Insert): Record<string, string | number> => ({
  ...insertSettings,
  insert_deduplication_token: deduplicationToken,
});

/** 64-bit integers are sent as text: not every binder accepts a bigint. */
export function connectionSettings(params: SqlParams | undefined): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params ?? {}).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? value.toString() : value,
    ]),
  );
}

export async function drain(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
