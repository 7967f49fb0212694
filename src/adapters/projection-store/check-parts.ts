import { isOutage } from '#kernel/errors.ts';
import type { DamagedPart, RowQueries } from '#ports/projection-store.ts';
import { firstSentence } from './engine-errors.ts';

type Questions = RowQueries;

export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  readonly partitionKey: string;
}

/** The tables of the database. */
export async function tableSizes(store: Questions): Promise<readonly TableSize[]> {
  const tables = await store.queryRows<{ name: string; bytes: string; key: string }>(
    `SELECT name, toString(ifNull(total_bytes, 0)) AS bytes, partition_key AS key
     FROM system.tables WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree')`,
  );
  return tables.map(({ name, bytes, key }) => ({ name, bytes: Number(bytes), partitionKey: key }));
}

interface PartCheckResult {
  readonly part_path: string;
  readonly is_passed: number;
  readonly message: string;
}

/** Reads every file of the table and compares its checksum. Empty: it has no damaged part. */
export async function damagedParts(store: Questions, table: string): Promise<DamagedPart[]> {
  const checked = await store.queryRows<PartCheckResult>(`CHECK TABLE ${table}`, {}, 'cleanup');
  return checked.flatMap((one) => corruptionFrom(table, one));
}

/** The same, part by part, so that other statements of the class get their turn between them. */
export async function* damagedPartsInTurn(
  store: Questions,
  table: string,
): AsyncGenerator<DamagedPart | null> {
  const parts = await store.queryRows<{ name: string }>(
    `SELECT name FROM system.parts
     WHERE active AND database = currentDatabase() AND table = {table:String}`,
    { table },
    'cleanup',
  );
  for (const { name } of parts) {
    try {
      const checked = await store.queryRows<PartCheckResult>(
        `CHECK TABLE ${table} PART '${name}'`,
        {},
        'cleanup',
      );
      yield checked.flatMap((one) => corruptionFrom(table, one))[0] ?? null;
    } catch (error) {
      // It was merged meanwhile: the merge has read it.
      if (!isOutage(error)) throw error;
    }
  }
}

function corruptionFrom(
  table: string,
  { part_path: part, is_passed, message }: PartCheckResult,
): DamagedPart[] {
  if (is_passed === 1) return [];
  const [, text = message] = /DB::Exception: (.*)/s.exec(message) ?? [];
  return [{ table, part, reason: firstSentence(text) }];
}

/**
 * A part whose noted range of partitions is not that of its name: a query of its partition would leave it out. The engine
 * reads these ranges without a checksum. Null = there is none.
 */
export async function misplacedPart(
  store: Questions,
  { name: table, partitionKey }: TableSize,
): Promise<DamagedPart | null> {
  if (partitionKey !== 'log_partition') return null;
  const ranges = await store.queryRows<{ part: string; first: number; last: number }>(
    `SELECT _part AS part, min(log_partition) AS first, max(log_partition) AS last
     FROM ${table} GROUP BY _part`,
  );
  const found = ranges.find(({ part, first, last }) => {
    const named = part.split('_')[0];
    return String(first) !== named || String(last) !== named;
  });
  if (found === undefined) return null;
  return { table, part: found.part, reason: 'its range of partitions is not that of its name' };
}
