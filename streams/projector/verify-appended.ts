import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { AnyAppendedProjection } from './appended.ts';
import { Positions } from './positions.ts';
import type { Difference, VerifiedPart } from './projection-state.ts';

const examplesMax = 10;

/**
 * Compares two generations row by row, over the offsets that both have read and the log still holds. Rows never
 * change, so that both can be fed meanwhile.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`: may be retried
 */
export async function verifyAppended(
  { log, store, partitions }: VerifyDeps,
  projection: AnyAppendedProjection,
  { expected, found }: { readonly expected: number; readonly found: number },
  signal: AbortSignal,
): Promise<Readonly<Record<string, VerifiedPart>>> {
  const tables = [expected, found].map((number) => projection.tableSet(number).name);
  const [first = '', second = ''] = tables;
  const positions = await Promise.all(tables.map((name) => new Positions(store, name).load()));
  const parts: Record<string, VerifiedPart> = {};
  for (let partition = 0; partition < partitions; partition++) {
    signal.throwIfAborted();
    const start = await log.startOffset(projection.topic, partition);
    const nexts = positions.map((stored) => stored.get(partition)?.next ?? 0);
    const range = { partition, start, end: Math.min(...nexts) };
    parts[partition] = await compare(store, [first, second], range);
  }
  return parts;
}

interface VerifyDeps {
  readonly log: Pick<EventLog, 'startOffset'>;
  readonly store: ProjectionStore;
  /** Partitions of the topic. */
  readonly partitions: number;
}

interface RowDifference {
  readonly log_offset: string;
  readonly expected: string;
  readonly found: string;
}

async function compare(
  store: VerifyDeps['store'],
  [expected, found]: readonly [string, string],
  range: { readonly partition: number; readonly start: number; readonly end: number },
): Promise<VerifiedPart> {
  const rows = (table: string, side: 1 | 2): string =>
    `SELECT DISTINCT log_offset, cityHash64(*) AS hash, ${side} AS side FROM ${table}
     WHERE log_partition = {partition:UInt16} AND log_offset >= {start:UInt64}
       AND log_offset < {end:UInt64}`;
  const both = `${rows(expected, 1)} UNION ALL ${rows(found, 2)}`;
  const [counts] = await store.queryRows<{ expected: string; found: string }>(
    `SELECT countIf(side = 1) AS expected, countIf(side = 2) AS found FROM (${both})`,
    range,
    'heavy',
  );
  const differing = await store.queryRows<RowDifference & { total: string }>(
    `SELECT *, count() OVER () AS total FROM (
       SELECT log_offset, countIf(side = 1) AS expected, countIf(side = 2) AS found
       FROM (${both}) GROUP BY log_offset
       HAVING expected != 1 OR found != 1 OR uniqExact(hash) != 1)
     ORDER BY log_offset LIMIT ${examplesMax}`,
    range,
    'heavy',
  );
  return {
    position: range.end,
    streams: Number(counts?.expected ?? 0) === 0 ? 0 : 1,
    expectedRows: Number(counts?.expected ?? 0),
    foundRows: Number(counts?.found ?? 0),
    differences: Number(differing[0]?.total ?? 0),
    examples: differing.map((one) => exampleOf(one, found, range.partition)),
  };
}

/** Here a stream is the partition, and a position its offset. */
const exampleOf = (one: RowDifference, table: string, partition: number): Difference => ({
  table,
  stream: String(partition),
  partition,
  expectedRows: Number(one.expected),
  foundRows: Number(one.found),
  expectedLast: Number(one.log_offset),
  foundLast: Number(one.log_offset),
});
