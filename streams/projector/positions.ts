import { partitionNumbers } from '#kernel/partition.ts';
import { dayMs, type Clock, type Instant } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionStore, RowQueries } from '#ports/projection-store.ts';
import { TabWriter } from '#tables/rows.ts';
import type { TopicName } from '../topics.ts';
import type { TableSet } from './define.ts';

/**
 * A position may be resumed only if it was at the end of the log less than 3 days ago, half the shortest delete
 * retention: later it has missed tombstones.
 */
export const resumableMs = 3 * dayMs;

export interface StoredPosition {
  readonly partition: number;
  /** The offset to continue from: everything before it is in the tables. */
  readonly next: number;
  /** The highest epoch of an owner seen; changes of a lower one are ignored. */
  readonly ownerEpoch: number;
  /** When the position was last known to be the end of the log, ms. */
  readonly atEndAt: Instant;
}

const columns = [
  'name',
  'log_partition',
  'next_offset',
  'owner_epoch',
  'at_end_at',
  'revision',
] as const;

/** Under this name, the ends of the log when the tables of partitions were emptied. */
const refillName = (projection: string): string => `${projection}/refill`;

interface Row {
  readonly log_partition: number;
  readonly next_offset: string;
  readonly owner_epoch: string;
  readonly at_end_ms: string;
  readonly revision: string;
}

/** The table `projector_positions` for one set of tables. */
export class Positions {
  readonly #store: ProjectionStore;
  readonly #projection: string;
  readonly #writer = new TabWriter(4096);
  #revision = 0;

  constructor(store: ProjectionStore, projection: string) {
    this.#store = store;
    this.#projection = projection;
  }

  async load(): Promise<Map<number, StoredPosition>> {
    const rows = await this.#store.queryRows<Row>(
      `SELECT log_partition, next_offset, owner_epoch, revision,
         toUnixTimestamp64Milli(at_end_at) AS at_end_ms
       FROM projector_positions FINAL WHERE name = {projection:String}`,
      { projection: this.#projection },
    );
    const positions = new Map<number, StoredPosition>();
    for (const row of rows) {
      this.#revision = Math.max(this.#revision, Number(row.revision));
      positions.set(row.log_partition, {
        partition: row.log_partition,
        next: Number(row.next_offset),
        ownerEpoch: Number(row.owner_epoch),
        atEndAt: Number(row.at_end_ms),
      });
    }
    return positions;
  }

  /** Up to which offset each partition can be read; one that is being emptied is omitted. */
  async readable(): Promise<[partition: number, next: number][]> {
    const stored = [...(await this.load()).values()];
    const whole = stored.filter(({ next }) => next !== beingEmptied);
    return whole.map(({ partition, next }) => [partition, next]);
  }

  /** By partition, the end of the log when its tables were last emptied. */
  async refillEnds(): Promise<ReadonlyMap<number, number>> {
    const rows = await this.#store.queryRows<Pick<Row, 'log_partition' | 'next_offset'>>(
      'SELECT log_partition, next_offset FROM projector_positions FINAL WHERE name = {name:String}',
      { name: refillName(this.#projection) },
    );
    return new Map(rows.map((row) => [row.log_partition, Number(row.next_offset)]));
  }

  /** Durable when it resolves. */
  save(positions: readonly StoredPosition[]): Promise<void> {
    return this.#insert(this.#projection, positions);
  }

  /** Before the tables of the partitions are emptied. Durable when it resolves. */
  saveRefillEnds(ends: ReadonlyMap<number, number>): Promise<void> {
    const unused = { ownerEpoch: 0, atEndAt: 0 };
    const rows = [...ends].map(([partition, next]) => ({ partition, next, ...unused }));
    return this.#insert(refillName(this.#projection), rows);
  }

  async #insert(name: string, positions: readonly StoredPosition[]): Promise<void> {
    this.#revision++;
    this.#writer.clear();
    for (const { partition, next, ownerEpoch, atEndAt } of positions) {
      this.#writer.string(name);
      this.#writer.uint(partition);
      this.#writer.uint(next);
      this.#writer.uint(ownerEpoch);
      this.#writer.time(atEndAt * 1000);
      this.#writer.uint(this.#revision);
      this.#writer.endRow();
    }
    await this.#store.insert({
      table: 'projector_positions',
      columns,
      rows: this.#writer.text(),
      deduplicationToken: `${name}:${this.#revision}`,
    });
  }
}

/**
 * The stored positions of sets of tables, by name and partition: everything before them is in the tables. A partition
 * that is being emptied is omitted.
 * @throws GatewayError `projection_unavailable`
 */
export async function storedPositions(
  tables: RowQueries,
  names: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<number, number>>> {
  const rows = await tables.queryRows<{ name: string; log_partition: number; next_offset: string }>(
    `SELECT name, log_partition, next_offset FROM projector_positions FINAL
     WHERE name IN {names:Array(String)}`,
    { names },
    'page',
  );
  const filled = rows.filter(({ next_offset: next }) => Number(next) !== beingEmptied);
  const byName = Map.groupBy(filled, ({ name }) => name);
  return new Map(
    [...byName].map(([name, list]) => [
      name,
      new Map(list.map((row) => [row.log_partition, Number(row.next_offset)])),
    ]),
  );
}

export interface Start {
  readonly positions: readonly StoredPosition[];
  /** Partitions whose tables were emptied, to be read from the start of the log. */
  readonly rebuilt: readonly number[];
  /** Partitions whose tables were emptied, now or earlier, and do not have what the log had then. */
  readonly refilling: ReadonlySet<number>;
  /** Upper bound of the messages to read for those. */
  readonly toRead: number;
  /** By partition, the end of the log. */
  readonly ends: ReadonlyMap<number, number>;
}

/**
 * Decides per partition whether the stored position is still valid, and empties the tables of partitions to
 * rebuild.
 */
export async function startPositions(
  deps: {
    readonly log: Pick<EventLog, 'startOffset' | 'endOffset'>;
    readonly store: ProjectionStore;
    readonly clock: Clock;
    /** SVC_PARTITIONS. */
    readonly partitions: number;
    /** Numbers of the partitions to start; default: all. */
    readonly held?: readonly number[];
    /** Called before tables are emptied. */
    readonly emptying?: () => void;
  },
  topic: TopicName,
  tables: TableSet,
  positions: Positions,
): Promise<Start> {
  const { log, store, clock } = deps;
  const stored = await positions.load();
  const refillEnds = await positions.refillEnds();
  const filled = await store.queryRows(`SELECT 1 FROM ${tables.tables[0]} LIMIT 1`);
  const found: StoredPosition[] = [];
  const rebuilt: number[] = [];
  const first: StoredPosition[] = [];
  const ends = new Map<number, number>();
  let toRead = 0;
  for (const partition of deps.held ?? partitionNumbers(deps.partitions)) {
    const start = await log.startOffset(topic, partition);
    const end = await log.endOffset(topic, partition);
    ends.set(partition, end);
    const position = stored.get(partition);
    if (
      position !== undefined &&
      // Beyond the end: the position belongs to another log.
      position.next <= end &&
      (position.next === end || clock.now() - position.atEndAt < resumableMs) &&
      (filled.length > 0 || position.next <= start)
    ) {
      found.push(position);
      continue;
    }
    // Of an empty log, the start is the end: a kill before the next save costs no rebuild.
    const atEndAt = end === start ? clock.now() : 0;
    const beginning = { partition, next: start, ownerEpoch: 0, atEndAt };
    found.push(beginning);
    if (position === undefined && end === start && filled.length === 0) {
      first.push(beginning);
      continue;
    }
    rebuilt.push(partition);
    toRead += end - start;
  }
  if (rebuilt.length > 0) deps.emptying?.();
  const emptied = new Map(rebuilt.map((partition) => [partition, ends.get(partition) ?? 0]));
  await empty(store, tables, positions, emptied);
  const complete = found.filter(
    ({ partition, next }) => rebuilt.includes(partition) && next === ends.get(partition),
  );
  // Nothing was ever inserted for the first ones, and their tables need no emptying.
  const settled = [...first, ...complete];
  if (settled.length > 0) await positions.save(settled);
  const filling = found.filter(
    ({ partition, next }) => next < (emptied.get(partition) ?? refillEnds.get(partition) ?? 0),
  );
  const refilling = new Set(filling.map(({ partition }) => partition));
  return { positions: found, rebuilt, refilling, toRead, ends };
}

/** Beyond any real offset: a start that finds this position restarts an interrupted rebuild. */
const beingEmptied = Number.MAX_SAFE_INTEGER;

async function empty(
  store: ProjectionStore,
  { tables }: TableSet,
  positions: Positions,
  ends: ReadonlyMap<number, number>,
): Promise<void> {
  if (ends.size === 0) return;
  await positions.saveRefillEnds(ends);
  const marked = { next: beingEmptied, ownerEpoch: 0, atEndAt: 0 };
  await positions.save([...ends.keys()].map((partition) => ({ partition, ...marked })));
  for (const partition of ends.keys()) {
    for (const table of tables) {
      await store.command(`ALTER TABLE ${table} DROP PARTITION ${partition}`);
    }
  }
}
