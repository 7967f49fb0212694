import { pause } from '#kernel/retry.ts';
import type { Instant } from '#kernel/time.ts';
import type { Batch as LogBatch, EventLog } from '#ports/event-log.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { Codec } from '#ports/schemas.ts';
import { TabWriter } from '#tables/rows.ts';
import type { AnyAppendedProjection } from './appended.ts';
import { Positions, startPositions, type Start } from './positions.ts';
import type { Difference, VerifiedPart } from './projection-state.ts';
import {
  insertByHalves,
  TableProjector,
  type BatchRange,
  type TableProjectorDeps,
} from './table-projector.ts';

/** Rows of one insert. */
const rowsMax = 20_000;
const bytesMax = 16 * 1024 ** 2;
/** Rows of this period are inserted together: no reader waits for them, and each insert has a fixed cost. */
const gatherMs = 400;
/**
 * This many rows at that time are a burst, of which more are inserted together: an insert costs by its partitions,
 * hardly by row.
 */
const rushRows = 400;
const rushGatherMs = 2_000;
/** Not that of the records: readers wait for those. */
const queryClass = 'build';
const positionEveryMs = 2_000;

export interface AppendedProjectorDeps extends TableProjectorDeps {
  readonly projection: AnyAppendedProjection;
  readonly codec: Codec<unknown>;
}

/**
 * Starts to write the messages of the topic into the table, from the stored positions on. A message that cannot be
 * read or that the table refuses is skipped and logged.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`
 */
export async function startAppendedProjector(
  deps: AppendedProjectorDeps,
): Promise<AppendedProjector> {
  const positions = new Positions(deps.store, deps.tables.name);
  const start = await startPositions(deps, deps.projection.topic, deps.tables, positions);
  return new AppendedProjector(deps, positions, start).begin();
}

class AppendedProjector extends TableProjector<Range, AppendedBatch, AppendedProjectorDeps> {
  constructor(deps: AppendedProjectorDeps, positions: Positions, start: Start) {
    const { projection } = deps;
    super(deps, positions, start, {
      topic: projection.topic,
      makeBatch: () => new AppendedBatch(projection),
      positionEveryMs,
      saveIdleAfterMs: () => positionEveryMs,
    });
  }

  protected async take({ partition, messages, next }: LogBatch): Promise<void> {
    await this.room();
    if (this.isStopped()) return;
    const { codec, logger, projection } = this.deps;
    for (const message of messages) {
      const { value, offset } = message;
      if (value === null) continue;
      this.traces.note(this.batches.open, message);
      try {
        this.batches.open.add({ partition, offset, event: codec.decode(value) });
      } catch (error) {
        logger.error(
          { err: error, topic: projection.topic, partition, offset },
          'a message could not be projected',
        );
      }
    }
    const first = messages.at(0)?.offset ?? next;
    this.batches.open.reach(partition, first, next, messages.at(-1)?.timestamp ?? 0);
    this.batches.noteFilled();
  }

  protected isFull(): boolean {
    const { entries, bytes } = this.batches.open;
    return entries.length >= rowsMax || bytes >= bytesMax;
  }

  protected async gather(): Promise<void> {
    for (let waitedMs = 0; waitedMs < rushGatherMs; waitedMs += gatherMs) {
      await pause(gatherMs, this.stop.signal);
      const isRush = this.batches.open.entries.length >= rushRows;
      if (!isRush || this.isFull() || this.isStopped()) return;
    }
  }

  protected async insert(batch: AppendedBatch): Promise<void> {
    const { store, tables, projection, logger } = this.deps;
    const { columns, topic } = projection;
    const [table] = tables.tables;
    if (batch.entries.length === 0) return;
    await insertByHalves(
      batch.entries,
      batch.token,
      (entries, deduplicationToken) => {
        const rows = entries === batch.entries ? batch.rows : rowsOf(projection, entries);
        return this.retrying(() =>
          store.insert({ table, columns, rows, deduplicationToken, queryClass }),
        );
      },
      ({ partition, offset }, _, err) => {
        logger.error({ err, topic, partition, offset }, 'the table refused a message');
      },
    );
  }
}

function rowsOf(projection: AnyAppendedProjection, entries: readonly Entry[]): Uint8Array {
  const batch = new AppendedBatch(projection);
  for (const entry of entries) batch.add(entry);
  return batch.rows;
}

/** The range of one partition in a batch. */
interface Range extends BatchRange {
  readonly first: number;
  last: number;
  next: number;
  lastAt: Instant;
}

/** A message that becomes a row. */
interface Entry {
  readonly partition: number;
  readonly offset: number;
  readonly event: unknown;
}

/** Messages of any partitions, inserted into the table at once. */
class AppendedBatch {
  readonly ranges = new Map<number, Range>();
  readonly entries: Entry[] = [];
  readonly #projection: AnyAppendedProjection;
  readonly #writer = new TabWriter(64 * 1024);

  constructor(projection: AnyAppendedProjection) {
    this.#projection = projection;
  }

  get isEmpty(): boolean {
    return this.ranges.size === 0;
  }

  get rows(): Uint8Array {
    return this.#writer.text();
  }

  get bytes(): number {
    return this.#writer.bytes;
  }

  /** The same messages always give the same token. */
  get token(): string {
    const parts = [...this.ranges].map(([at, { first, last }]) => `${at}:${first}-${last}`);
    return `${this.#projection.topic}:${parts.join(',')}`;
  }

  /** Records that the partition was read up to the offset. */
  reach(partition: number, first: number, next: number, at: Instant): void {
    const range = this.ranges.get(partition);
    if (range === undefined) {
      this.ranges.set(partition, { first, last: next - 1, next, lastAt: at, epoch: 0 });
      return;
    }
    range.last = next - 1;
    range.next = next;
    range.lastAt = Math.max(range.lastAt, at);
  }

  /** @throws RangeError for an event with impossible numbers; the batch is unchanged. */
  add(entry: Entry): void {
    this.#writer.begin();
    try {
      this.#writer.uint(entry.partition);
      this.#writer.uint(entry.offset);
      this.#projection.write(this.#writer, entry.event);
      this.#writer.endRow();
    } catch (error) {
      this.#writer.undo();
      throw error;
    }
    this.entries.push(entry);
  }

  clear(): void {
    this.#writer.clear();
    this.ranges.clear();
    this.entries.length = 0;
  }
}

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
