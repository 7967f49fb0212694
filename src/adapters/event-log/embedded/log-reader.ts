import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GatewayError } from '#kernel/errors.ts';
import type { Batch, Cleanup, ReadMessage } from '#ports/event-log.ts';
import type { Peer } from '../../threads/rpc.ts';
import { corrupted, isLogCorruption, type OnCorruption } from './corruption.ts';
import type { Ends } from './protocol.ts';
import { decodeRow, isIntact, type StoredRow } from './row-format.ts';
import { RowKeyReader } from './row-keys.ts';
import { isSealed, openRow, slotOf } from './sealed-row.ts';
import { searchByPeak, type PeakedRow } from './search-by-time.ts';
import { asLogFailure } from './sqlite-failure.ts';
import { openReadConnection } from './tables.ts';

/** A partition in the form that a reader uses. */
export interface LogPartition {
  readonly id: number;
  readonly topic: string;
  readonly partition: number;
  /** False for messages that are deleted once consumed. */
  readonly isKept: boolean;
}

/** A reader's position in a partition. `pending` are messages of a decoded row that did not fit the last batch. */
export interface Cursor {
  readonly partition: LogPartition;
  position: number;
  pending: readonly ReadMessage[];
  /** Offset to continue from after `pending`. */
  afterPending: number;
}

interface Bounds {
  readonly start: number;
  readonly next: number;
}

type Row = StoredRow & { readonly bytes: number };

/** Approximate limit of one fetch, so that a thread with other work stays responsive. */
const fetchMs = 3;

/** Reads the committed part of the log in the calling thread, in short transactions. */
export class LogReader {
  readonly #db: DatabaseSync;
  readonly #rowKeys: RowKeyReader;
  readonly #places = new Map<string, readonly LogPartition[]>();
  readonly #bounds: StatementSync;
  readonly #rowAfter: StatementSync;
  readonly #peakAfter: StatementSync;
  readonly #onCorruption: OnCorruption;

  constructor(directory: string, onCorruption: OnCorruption) {
    this.#onCorruption = onCorruption;
    this.#db = openReadConnection(directory);
    this.#rowKeys = new RowKeyReader(directory);
    this.#bounds = this.#db.prepare('SELECT start, next FROM partitions WHERE id = ?');
    this.#rowAfter = this.#db.prepare(`SELECT base, next, bytes, codec, crc, directory, body
      FROM batches WHERE partition = ? AND next > ? ORDER BY next LIMIT 1`);
    this.#peakAfter = this.#db.prepare(`SELECT base, next, peak
      FROM batches WHERE partition = ? AND next > ? ORDER BY next LIMIT 1`);
  }

  close(): void {
    this.#db.close();
    this.#rowKeys.close();
  }

  /** Until it is closed, every read sees the log as of now. */
  hold(): void {
    this.#db.exec('BEGIN');
    // A transaction begins with its first read.
    this.identity();
  }

  /** All partitions of the topic, in order. @throws GatewayError `unknown_topic` */
  topic(name: string): readonly LogPartition[] {
    const existing = this.#places.get(name);
    if (existing !== undefined) return existing;
    const found = this.#db
      .prepare(
        `SELECT p.id, p.number, t.cleanup FROM partitions p JOIN topics t ON t.id = p.topic
        WHERE t.name = ? ORDER BY p.number`,
      )
      .all(name);
    if (found.length === 0) {
      throw new GatewayError('unknown_topic', { message: `The topic ${name} does not exist.` });
    }
    const places = found.map(({ id, number, cleanup }) => ({
      id: Number(id),
      topic: name,
      partition: Number(number),
      isKept: (JSON.parse(String(cleanup)) as Cleanup).policy !== 'none',
    }));
    this.#places.set(name, places);
    return places;
  }

  /** @throws GatewayError `unknown_topic` */
  place(topic: string, partition: number): LogPartition {
    const logPartition = this.topic(topic)[partition];
    if (logPartition !== undefined) return logPartition;
    throw new GatewayError('unknown_topic', {
      message: `The partition ${topic}/${partition} does not exist.`,
    });
  }

  /**
   * Whether messages of the topic are retained long enough to be worth compressing. Commands are not: compression
   * takes their saver 1.3 µs per record, and reading another half. @throws GatewayError `unknown_topic`
   */
  isKept(topic: string): boolean {
    return this.topic(topic)[0]?.isKept ?? true;
  }

  identity(): string {
    return String(this.#db.prepare('SELECT identity FROM log').get()?.['identity']);
  }

  endOffset({ id }: LogPartition): number {
    return this.#boundsOf(id).next;
  }

  /** Offset of the oldest retained message, or the end. */
  startOffset(partition: LogPartition): number {
    const { start, next } = this.#boundsOf(partition.id);
    const row = this.#after(partition, start);
    return row === null ? next : (decodeRow(row, start)[0]?.offset ?? row.next);
  }

  offsetAt(partition: LogPartition, timestamp: number): number {
    const { start, next } = this.#boundsOf(partition.id);
    const after = (position: number): PeakedRow | undefined =>
      this.#peakAfter.get(partition.id, position) as unknown as PeakedRow | undefined;
    const first = searchByPeak(after, start, next, (peak) => peak >= timestamp);
    // The message that gave a row its peak may be compacted away: continue from there.
    let position = first === null ? next : Math.max(first.base, start);
    for (;;) {
      const row = this.#after(partition, position);
      if (row === null) return next;
      const found = decodeRow(row, position).find((message) => message.timestamp >= timestamp);
      if (found !== undefined) return found.offset;
      position = row.next;
    }
  }

  committed(group: string, topic: string): Map<number, number> {
    this.topic(topic);
    const rows = this.#db
      .prepare(
        `SELECT g.partition, g.position FROM group_positions g
        JOIN topics t ON t.id = g.topic WHERE g.name = ? AND t.name = ?`,
      )
      .all(group, topic);
    return new Map(rows.map((row) => [Number(row['partition']), Number(row['position'])]));
  }

  schema(id: number): string | null {
    const row = this.#db.prepare('SELECT definition FROM schemas WHERE id = ?').get(id);
    return row === undefined ? null : String(row['definition']);
  }

  /**
   * The messages after the cursor, which moves on; null at the end. Reads no row that begins at `until` or later.
   * @throws GatewayError `log_corrupt`
   */
  fetch(cursor: Cursor, maxBytes: number, until = Infinity): Batch | null {
    if (!this.#db.isOpen) {
      throw new GatewayError('log_unavailable', { message: 'The event log was closed.' });
    }
    const { partition: place } = cursor;
    const { start, next: end } = this.#boundsOf(place.id);
    const began = performance.now();
    const batch = new BatchBuilder(maxBytes);
    while (!batch.isFull && (batch.isEmpty || performance.now() - began < fetchMs)) {
      if (cursor.pending.length === 0 && !this.#loadAfter(batch, cursor, start, until)) break;
      cursor.pending = batch.take(cursor.pending);
      cursor.position = cursor.pending[0]?.offset ?? cursor.afterPending;
    }
    if (batch.isEmpty) {
      // No message is left before the end as of the start of this call: a gap.
      const target = Math.min(end, until);
      if (cursor.position >= target) return null;
      cursor.position = target;
    }
    const { topic, partition } = place;
    return { topic, partition, messages: batch.messages, next: cursor.position };
  }

  /** Like `load`; a failure is deferred to the next fetch when there are messages to return before it. */
  #loadAfter(batch: BatchBuilder, cursor: Cursor, start: number, until: number): boolean {
    try {
      return this.#load(cursor, start, until);
    } catch (error) {
      if (batch.isEmpty) throw error;
      return false;
    }
  }

  /** Decodes the next row into `pending`; false when there is none. */
  #load(cursor: Cursor, start: number, until: number): boolean {
    const from = Math.max(cursor.position, start);
    const row = this.#after(cursor.partition, from);
    if (row === null || row.base >= until) return false;
    cursor.pending = decodeRow(row, from);
    cursor.afterPending = row.next;
    cursor.position = cursor.pending[0]?.offset ?? row.next;
    return true;
  }

  #after({ id, topic, partition }: LogPartition, position: number): Row | null {
    try {
      for (let former: Row | null = null; ;) {
        const row = this.#rowAfter.get(id, position) as unknown as Row | undefined;
        if (row === undefined) return null;
        // Its key is destroyed once another row has replaced it, or it was deleted.
        const isWhole = isIntact(row, id) && row.crc !== former?.crc;
        if (!isWhole) throw corrupted(`${topic}/${partition}`, row.base);
        const opened = this.#opened(row, id);
        if (opened !== null) return opened;
        former = row;
      }
    } catch (error) {
      const failure = asLogFailure(error);
      if (isLogCorruption(failure)) this.#onCorruption(failure.message);
      throw failure;
    }
  }

  #opened(row: Row, partition: number): Row | null {
    if (!isSealed(row)) return row;
    const key = this.#rowKeys.read(slotOf(row.body));
    return openRow(row, { partition, base: row.base, next: row.next }, key);
  }

  #boundsOf(id: number): Bounds {
    return this.#bounds.get(id) as unknown as Bounds;
  }
}

/** Collects messages until their values reach the limit; one message may exceed it. */
class BatchBuilder {
  readonly messages: ReadMessage[] = [];
  isFull = false;
  #bytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.messages.length === 0;
  }

  /** Returns the messages that did not fit. */
  take(pending: readonly ReadMessage[]): readonly ReadMessage[] {
    for (let i = 0; i < pending.length; i++) {
      const message = pending[i] as ReadMessage;
      const length = message.value?.length ?? 0;
      if (this.messages.length > 0 && this.#bytes + length > this.#maxBytes) {
        this.isFull = true;
        return pending.slice(i);
      }
      this.#bytes += length;
      this.messages.push(message);
    }
    return [];
  }
}

/** Rings when a partition may have grown, or the signal has aborted. */
interface Bell extends Disposable {
  /** Clears the bell; check for work after this. */
  reset(): void;
  /** @throws GatewayError `log_unavailable` when the log has ended. */
  rung(): Promise<void>;
}

/** Tracks the ends of the partitions that this client follows, as the log thread reports them. */
export class Watcher {
  readonly #peer: Peer;
  readonly #ends = new Map<number, number>();
  readonly #listeners = new Set<() => void>();
  #ended = false;

  constructor(peer: Peer) {
    this.#peer = peer;
    peer.on('grew', (ends: Ends) => this.#grew(ends));
  }

  /** Resolves with the ends, kept up to date from now on. */
  async watch(partitionIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
    const unknown = partitionIds.filter((id) => !this.#ends.has(id));
    if (unknown.length > 0) this.#grew(await this.#peer.call<Ends>('watch', [unknown]));
    return this.#ends;
  }

  bell(signal: AbortSignal): Bell {
    let next = Promise.withResolvers<undefined>();
    const ring = (): void => next.resolve(undefined);
    this.#listeners.add(ring);
    signal.addEventListener('abort', ring);
    return {
      reset: () => {
        next = Promise.withResolvers();
      },
      rung: async () => {
        if (!this.#ended && !signal.aborted) await next.promise;
        if (this.#ended && !signal.aborted) {
          throw new GatewayError('log_unavailable', { message: 'The event log was closed.' });
        }
      },
      [Symbol.dispose]: () => {
        this.#listeners.delete(ring);
        signal.removeEventListener('abort', ring);
      },
    };
  }

  /** Ends every wait. */
  end(): void {
    this.#ended = true;
    this.#ring();
  }

  #grew(ends: Ends): void {
    for (const [id, end] of ends) this.#ends.set(id, Math.max(end, this.#ends.get(id) ?? 0));
    this.#ring();
  }

  #ring(): void {
    for (const listener of this.#listeners) listener();
  }
}
