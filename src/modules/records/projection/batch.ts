import type { Logger } from 'pino';
import { growingCache } from '#kernel/cache.ts';
import { splitKey, type ConnectionUid, type EnvironmentUid } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Instant } from '#kernel/time.ts';
import type { QueryClass, ProjectionStore } from '#ports/projection-store.ts';
import { insertByHalves } from '#streams/projector/table-projector.ts';
import { TabWriter } from '#tables/rows.ts';
import { generationOf } from '../model/cursor.ts';
import type { RecordChange } from '../model/events.ts';
import { streamKey, streamNumber } from '../model/stream.ts';
import type { HighWatermark } from '../read/high-watermarks.ts';
import {
  type ChangePlace,
  type NamedStream,
  type StreamPlace,
  records,
  writeMarked,
  type RecordTableSet,
} from './definition.ts';

/** Part of a batch for one partition. */
export interface Range {
  readonly first: number;
  last: number;
  /** The offset of the next message. */
  next: number;
  /** Time of the last message, ms. */
  lastAt: Instant;
  superseded: number;
  /** Whether payloads were removed for good. */
  hasEmptied: boolean;
  /** The highest epoch of an owner up to here. */
  epoch: number;
}

export interface Entry extends ChangePlace {
  readonly change: RecordChange;
}

/** A tombstone whose purge was not read just before it. */
export interface LooseTombstone {
  readonly place: StreamPlace;
  readonly recordId: string;
}

/** Changes of any partitions, for one insert into the tables. Reused after `clear`. */
export class Batch {
  readonly writer = new TabWriter();
  readonly ranges = new Map<number, Range>();
  readonly entries: Entry[] = [];
  /** Of the streams whose head it moves; null where the newest change has no generation. */
  readonly heads = new Map<string, HighWatermark | null>();
  /** The first change of each stream, by the stream's number. */
  readonly streams = new Map<string, NamedStream>();
  /** Streams that lose rows or payloads by this batch. */
  readonly dropped = new Set<string>();
  readonly tombstones: LooseTombstone[] = [];

  get isEmpty(): boolean {
    return this.ranges.size === 0;
  }

  /** The same messages always give the same token. */
  token(topic: string): string {
    const parts = [...this.ranges].map(([at, { first, last }]) => `${at}:${first}-${last}`);
    return `${topic}:${parts.join(',')}`;
  }

  clear(): void {
    this.writer.clear();
    this.ranges.clear();
    this.entries.length = 0;
    this.heads.clear();
    this.streams.clear();
    this.dropped.clear();
    this.tombstones.length = 0;
  }

  /** Marks the message as read, whatever its outcome. */
  reach(partition: number, offset: number, at: Instant): Range {
    const range = this.#range(partition, offset);
    range.last = offset;
    range.next = offset + 1;
    range.lastAt = Math.max(range.lastAt, at);
    return range;
  }

  /** Notes that the partition was read up to the offset, past holes. */
  reachNext(partition: number, next: number): void {
    const range = this.#range(partition, next);
    range.next = Math.max(range.next, next);
  }

  #range(partition: number, offset: number): Range {
    let range = this.ranges.get(partition);
    if (range === undefined) {
      const none = { lastAt: 0, superseded: 0, hasEmptied: false, epoch: 0 };
      range = { first: offset, last: offset, next: offset, ...none };
      this.ranges.set(partition, range);
    }
    return range;
  }

  /** Of the message that was reached last. @throws RangeError for a change with impossible numbers; the batch is as before. */
  add(range: Range, change: RecordChange, streamPlace: StreamPlace): void {
    const before = this.writer.rows;
    const entry = { change, place: streamPlace, offset: range.last };
    this.writer.begin();
    try {
      records.write(this.writer, change, entry);
    } catch (error) {
      this.writer.undo();
      throw error;
    }
    this.#note(range, entry, this.writer.rows - before);
  }

  /** The row that holds the place of an unreadable change; of the message that was reached last. */
  addMarked(range: Range, change: RecordChange, streamPlace: StreamPlace, error: string): void {
    const before = this.writer.rows;
    const entry = { change, place: streamPlace, offset: range.last };
    writeMarked(this.writer, change, entry, error);
    this.#note(range, entry, this.writer.rows - before);
  }

  #note(range: Range, entry: Entry, rows: number): void {
    const { change, place: streamPlace } = entry;
    const { action, position, stream_seq: seq } = change;
    this.entries.push(entry);
    if (!this.streams.has(streamPlace.number))
      this.streams.set(streamPlace.number, { place: streamPlace, names: change });
    range.superseded += action === 'purged' ? rows : rows - 1;
    if (action === 'pruned' || action === 'purged') range.hasEmptied = true;
    if (action !== 'added' && action !== 'updated') this.dropped.add(streamPlace.number);
    // Pruned, restored and purged records keep their position, which may be far behind the head.
    if (position !== seq) return;
    const generation = change.stream_generation;
    const modifiedAt = change.last_modified_at;
    const head = { generation: fingerprint(generation), position, modifiedAt };
    // An unreadable change has no generation.
    this.heads.set(streamPlace.number, generation === '' ? null : head);
  }
}

let lastGeneration = '';
let lastFingerprint = 0n;

/** Changes of one generation come in long runs. */
function fingerprint(generation: string): bigint {
  if (generation !== lastGeneration) {
    lastGeneration = generation;
    lastFingerprint = generationOf(generation);
  }
  return lastFingerprint;
}

/** Finds the place of a stream without hashing its name for every change. */
export class Places {
  readonly #partitions: number;
  readonly #places = growingCache<StreamPlace>(100_000);
  #last: { readonly parts: readonly string[]; readonly place: StreamPlace } | null = null;

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

  of(environmentUid: string, connectionUid: string, model: string, variant: string): StreamPlace {
    const parts = [environmentUid, connectionUid, model, variant];
    // Changes of one stream come in long runs.
    if (this.#last?.parts.every((part, at) => part === parts[at]) === true) return this.#last.place;
    const streamPlace = this.#find(environmentUid, connectionUid, model, variant);
    this.#last = { parts, place: streamPlace };
    return streamPlace;
  }

  #find(
    environmentUid: string,
    connectionUid: string,
    model: string,
    variant: string,
  ): StreamPlace {
    const name = `${environmentUid}/${connectionUid}/${model}/${variant}`;
    let position = this.#places.get(name);
    if (position === undefined) {
      const key = streamKey({
        environmentUid: environmentUid as EnvironmentUid,
        connectionUid: connectionUid as ConnectionUid,
        model,
        variant,
      });
      position = {
        partition: partitionOf(key, this.#partitions),
        number: streamNumber(key).toString(),
      };
      this.#places.set(name, position);
    }
    return position;
  }
}

/** The parts of a record's message key, or null for a key of another form. */
export function partsOfKey(key: string): {
  environmentUid: string;
  connectionUid: string;
  model: string;
  variant: string;
  recordId: string;
} | null {
  const parts = splitKey(key);
  if (parts.length !== 5) return null;
  const [environmentUid = '', connectionUid = '', model = '', variant = '', recordId = ''] = parts;
  return { environmentUid, connectionUid, model, variant, recordId };
}

interface InserterDeps {
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly logger: Pick<Logger, 'error'>;
  /** The lane of the inserts, asked before each; default `insert`. */
  readonly queryClass?: () => QueryClass;
}

type RetryTask = (task: () => Promise<void>) => Promise<void>;

export interface Inserter {
  /**
   * Durable when it resolves. Changes that the table refuses are written without their payload; resolves with them.
   */
  insert(batch: Batch): Promise<readonly Entry[]>;
}

/** Writes batches into the first table of the set; `retrying` repeats temporary failures. */
export function createInserter(deps: InserterDeps, retrying: RetryTask): Inserter {
  const { store, tables, logger } = deps;
  const { columns, topic } = records;
  const [table] = tables.tables;
  const marked = new TabWriter(64 * 1024);

  /** A failed insert may have been written: the same rows under the same token until it succeeds. */
  const insertRows = (rows: Uint8Array, deduplicationToken: string): Promise<void> =>
    retrying(() => {
      const queryClass = deps.queryClass?.() ?? 'insert';
      return store.insert({ table, columns, rows, deduplicationToken, queryClass });
    });

  const rowsOf = (entries: readonly Entry[]): Uint8Array => {
    marked.clear();
    for (const entry of entries) records.write(marked, entry.change, entry);
    return marked.text();
  };
  let refused: Entry[] = [];
  const insertMarked = async (entry: Entry, token: string): Promise<void> => {
    const { event_id: eventId } = entry.change;
    marked.clear();
    writeMarked(marked, entry.change, entry, 'refused');
    logger.error({ eventId }, 'the table refused a change; written without payload');
    await insertRows(marked.text(), `${token}/marked`);
    refused.push(entry);
  };

  return {
    async insert(batch) {
      refused = [];
      await insertByHalves(
        batch.entries,
        batch.token(topic),
        (entries, token) =>
          insertRows(entries === batch.entries ? batch.writer.text() : rowsOf(entries), token),
        insertMarked,
      );
      return refused;
    },
  };
}
