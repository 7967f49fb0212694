import { growingCache } from '#kernel/cache.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { Codec } from '#ports/schemas.ts';
import { Positions } from '#streams/projector/positions.ts';
import { TabWriter } from '#tables/rows.ts';
import { headsTopic, type StreamHeadValue } from '../model/events.ts';
import type { RecordTables } from '../read/tables.ts';
import { Places } from './batch.ts';
import type { NamedStream, StreamPlace } from './definition.ts';

const columns = [
  'log_partition',
  'environment_id',
  'stream_id',
  'integration',
  'connection_id',
  'connection_uid',
  'model',
  'variant',
  'version',
] as const;

/** Streams that this process has written need no second row. */
const knownMax = 100_000;

/** Writes the names of streams into their table. */
export class StreamNames {
  readonly #store: Pick<ProjectionStore, 'insert'>;
  readonly #table: string;
  readonly #writer = new TabWriter(4096);
  readonly #known = growingCache<number>(knownMax);

  constructor(store: Pick<ProjectionStore, 'insert'>, { streams }: Pick<RecordTables, 'streams'>) {
    this.#store = store;
    this.#table = streams;
  }

  /**
   * Durable when it resolves; those that it has written before are left out.
   * @throws GatewayError `projection_unavailable`: write them again
   */
  async write(streams: Iterable<NamedStream>): Promise<void> {
    const written: string[] = [];
    this.#writer.clear();
    for (const { place, names } of streams) {
      const known = `${place.number}/${names.integration ?? ''}`;
      // The change that holds the place of an unreadable one has no names.
      if (names.environment_id === '' || this.#known.has(known)) continue;
      this.#row(place, names);
      written.push(known);
    }
    if (written.length === 0) return;
    await this.#store.insert({
      table: this.#table,
      columns,
      rows: this.#writer.text(),
      // The table remembers no tokens: the same row twice is one row.
      deduplicationToken: '',
    });
    for (const known of written) this.#known.set(known, 1);
  }

  #row(place: StreamPlace, names: NamedStream['names']): void {
    this.#writer.uint(place.partition);
    this.#writer.string(names.environment_id);
    this.#writer.ascii(place.number);
    this.#writer.string(names.integration ?? '');
    this.#writer.string(names.connection_id ?? '');
    this.#writer.string(names.connection_uid);
    this.#writer.string(names.model);
    this.#writer.string(names.variant);
    this.#writer.uint(names.stream_seq);
    this.#writer.endRow();
  }
}

interface FillDeps {
  readonly log: Pick<EventLog, 'read' | 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly heads: Pick<Codec<StreamHeadValue>, 'decode'>;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
}

const headsPerInsert = 5_000;

/**
 * Names the streams of tables that an earlier release filled, once for each set of tables: their heads have the names.
 * @throws GatewayError `projection_unavailable`, `log_unavailable`: it may run again
 */
export async function fillStreamNames(
  deps: FillDeps,
  tables: { readonly name: string; readonly names: RecordTables },
): Promise<void> {
  const { log, store, partitions } = deps;
  const positions = new Positions(store, `${tables.name}/stream-names`);
  const filled = await positions.load();
  for (const partition of partitionNumbers(partitions)) {
    if (filled.has(partition)) continue;
    const next = await log.endOffset(headsTopic, partition);
    await fillPartition(deps, tables.names, partition);
    await positions.save([{ partition, next, ownerEpoch: 0, atEndAt: 0 }]);
  }
}

async function fillPartition(
  { log, store, heads, partitions }: FillDeps,
  tables: RecordTables,
  partition: number,
): Promise<void> {
  const names = new StreamNames(store, tables);
  const places = new Places(partitions);
  let open: NamedStream[] = [];
  const offset = await log.startOffset(headsTopic, partition);
  for await (const { messages } of log.read({ topic: headsTopic, partition, offset })) {
    for (const { key, value } of messages) {
      if (value === null) continue;
      const head = heads.decode(value);
      const { environment_id: environmentUid, connection_uid: connectionUid } = head;
      // The message that raises the epoch of a partition is of no stream.
      if (environmentUid === '' || !key.includes('/')) continue;
      const place = places.of(environmentUid, connectionUid, head.model, head.variant);
      open.push({ place, names: head });
    }
    if (open.length < headsPerInsert) continue;
    await names.write(newest(open));
    open = [];
  }
  await names.write(newest(open));
}

/** The last of each stream. */
const newest = (streams: readonly NamedStream[]): Iterable<NamedStream> =>
  new Map(streams.map((stream) => [stream.place.number, stream])).values();
