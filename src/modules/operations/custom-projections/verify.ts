import { recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { Positions } from '#streams/projector/positions.ts';
import type { Difference, VerifiedPart } from '#streams/projector/projection-state.ts';
import type { CustomTableSet } from './tables.ts';

const examplesMax = 10;

interface VerifyDeps {
  readonly log: Pick<EventLog, 'startOffset'>;
  readonly store: ProjectionStore;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
}

/**
 * Compares two generations record by record, over those whose last change both have read. Both can be fed meanwhile.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`: may be retried
 */
export async function verifyCustom(
  { log, store, partitions }: VerifyDeps,
  sets: { readonly expected: CustomTableSet; readonly found: CustomTableSet },
  signal: AbortSignal,
): Promise<Readonly<Record<string, VerifiedPart>>> {
  const both = [sets.expected, sets.found] as const;
  const positions = await Promise.all(both.map(({ name }) => new Positions(store, name).load()));
  const parts: Record<string, VerifiedPart> = {};
  for (let partition = 0; partition < partitions; partition++) {
    signal.throwIfAborted();
    const start = await log.startOffset(recordsTopic, partition);
    const nexts = positions.map((stored) => stored.get(partition)?.next ?? start);
    parts[partition] = await compare(store, both, { partition, end: Math.min(...nexts) });
  }
  return parts;
}

/**
 * Number of records that the expected generation has mapped and the other one failed to, at the same change.
 * @throws GatewayError `projection_unavailable`
 */
export async function countNewFailures(
  { store, partitions }: Pick<VerifyDeps, 'store' | 'partitions'>,
  { expected, found }: { readonly expected: CustomTableSet; readonly found: CustomTableSet },
): Promise<number> {
  let count = 0;
  for (let partition = 0; partition < partitions; partition++) {
    const [counted] = await store.queryRows<{ failed: string }>(
      `SELECT count() AS failed FROM ${expected.name} FINAL
       WHERE _log_partition = {partition:UInt16} AND _error = '' AND _log_offset IN
         (SELECT _log_offset FROM ${found.name} FINAL WHERE _log_partition = {partition:UInt16} AND _error != '')`,
      { partition },
      'heavy',
    );
    count += Number(counted?.failed ?? 0);
  }
  return count;
}

interface Row {
  readonly stream: string;
  readonly expected: string;
  readonly found: string;
  readonly expected_last: string;
  readonly found_last: string;
}

async function compare(
  store: ProjectionStore,
  [expected, found]: readonly [CustomTableSet, CustomTableSet],
  range: { readonly partition: number; readonly end: number },
): Promise<VerifiedPart> {
  const rows = ({ name }: CustomTableSet, side: 1 | 2): string =>
    `SELECT _stream_id AS stream_id, _record_id AS record_id, _log_offset AS log_offset, cityHash64(*) AS hash,
       ${side} AS side
     FROM ${name} FINAL WHERE _log_partition = {partition:UInt16}`;
  const records = `SELECT stream_id, record_id, countIf(side = 1) AS expected, countIf(side = 2) AS found,
      maxIf(log_offset, side = 1) AS expected_last, maxIf(log_offset, side = 2) AS found_last,
      expected != 1 OR found != 1 OR uniqExact(hash) != 1 AS differs
    FROM (${rows(expected, 1)} UNION ALL ${rows(found, 2)})
    GROUP BY stream_id, record_id HAVING max(log_offset) < {end:UInt64}`;
  const [counts] = await store.queryRows<Record<string, string>>(
    `SELECT uniqExact(stream_id) AS streams, sum(expected) AS expected, sum(found) AS found, sum(differs) AS differences
     FROM (${records})`,
    range,
    'heavy',
  );
  const differing = await store.queryRows<Row>(
    `SELECT toString(stream_id) AS stream, sum(expected) AS expected, sum(found) AS found,
       max(expected_last) AS expected_last, max(found_last) AS found_last
     FROM (${records}) WHERE differs GROUP BY stream_id ORDER BY stream_id LIMIT ${examplesMax}`,
    range,
    'heavy',
  );
  const number = (name: string): number => Number(counts?.[name] ?? 0);
  return {
    position: range.end,
    streams: number('streams'),
    expectedRows: number('expected'),
    foundRows: number('found'),
    differences: number('differences'),
    examples: differing.map((row) => exampleOf(row, found.name, range.partition)),
  };
}

/** Positions are offsets. */
const exampleOf = (row: Row, table: string, partition: number): Difference => ({
  table,
  stream: row.stream,
  partition,
  expectedRows: Number(row.expected),
  foundRows: Number(row.found),
  expectedLast: Number(row.expected_last),
  foundLast: Number(row.found_last),
});
