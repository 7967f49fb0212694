import type { Logger } from 'pino';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { blankChange, type RecordChange } from '../model/events.ts';
import { reservedKey } from '../model/stream-head.ts';
import type { Batch, Range } from './batch.ts';
import { partsOfKey, Places } from './batch.ts';
import { ChangeDecoder } from './change-decoder.ts';

const purgedKeysMax = 100_000;

/** Converts messages of `svc.records.v1` into rows of a batch. It refuses none: see `addMarked`. */
export class RowBuilder {
  readonly #decoder: ChangeDecoder;
  readonly #logger: Pick<Logger, 'error'>;
  readonly #places: Places;
  /** By partition, the highest epoch of an owner: a lower one was fenced and is ignored. */
  readonly #epochs: Map<number, number>;
  /** Keys whose tombstone is still to come. */
  readonly #purgedKeys = new Set<string>();

  constructor(
    deps: {
      readonly codec: Codec<RecordChange>;
      readonly logger: Pick<Logger, 'error'>;
      readonly partitions: number;
    },
    epochs: ReadonlyMap<number, number>,
  ) {
    this.#decoder = new ChangeDecoder(deps.codec);
    this.#logger = deps.logger;
    this.#places = new Places(deps.partitions);
    this.#epochs = new Map(epochs);
  }

  add(batch: Batch, partition: number, message: ReadMessage): void {
    const range = batch.reach(partition, message.offset, message.timestamp);
    if (message.key === reservedKey) return;
    if (message.value === null) {
      this.#addTombstone(batch, message);
      return;
    }
    try {
      const change = this.#decoder.decode(message.value);
      if (change.owner_epoch < (this.#epochs.get(partition) ?? 0)) return;
      this.#epochs.set(partition, change.owner_epoch);
      const streamPlace = this.#places.of(
        change.environment_id,
        change.connection_uid,
        change.model,
        change.variant,
      );
      batch.add(range, change, streamPlace);
      range.epoch = change.owner_epoch;
      if (change.action === 'purged') this.#awaitTombstone(message.key);
    } catch (error) {
      this.#addUnreadable(batch, range, message, error);
    }
  }

  #awaitTombstone(key: string): void {
    // Dropping them only costs a look-up.
    if (this.#purgedKeys.size >= purgedKeysMax) this.#purgedKeys.clear();
    this.#purgedKeys.add(key);
  }

  #addTombstone(batch: Batch, message: ReadMessage): void {
    // The purge before it has already removed the rows.
    if (this.#purgedKeys.delete(message.key)) return;
    const parts = partsOfKey(message.key);
    if (parts === null) return;
    const { environmentUid, connectionUid, model, variant, recordId } = parts;
    const streamPlace = this.#places.of(environmentUid, connectionUid, model, variant);
    batch.tombstones.push({ place: streamPlace, recordId });
    batch.dropped.add(streamPlace.number);
  }

  /** Key and headers are enough for a row that holds the place. */
  #addUnreadable(batch: Batch, range: Range, message: ReadMessage, error: unknown): void {
    const { offset, key } = message;
    this.#logger.error({ err: error, offset, key }, 'a change cannot be projected');
    const parts = partsOfKey(key);
    const seq = Number(message.headers['svc-seq']);
    if (parts === null || !Number.isSafeInteger(seq) || seq < 1) return;
    const { environmentUid, connectionUid, model, variant } = parts;
    const streamPlace = this.#places.of(environmentUid, connectionUid, model, variant);
    const change = placeholder(parts, seq, message.timestamp);
    batch.addMarked(range, change, streamPlace, 'unreadable');
  }
}

/** A change of which only the record and its seq are known. */
export function placeholder(
  { recordId, model, variant }: { recordId: string; model: string; variant: string },
  seq: number,
  timestamp: number,
): RecordChange {
  const at = timestamp * 1000;
  return {
    ...blankChange,
    occurred_at: at,
    actor: 'system',
    model,
    variant,
    record_id: recordId,
    action: 'updated',
    stream_seq: seq,
    position: seq,
    first_seen_at: at,
    last_modified_at: at,
  };
}
