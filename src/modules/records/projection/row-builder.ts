import type { Logger } from 'pino';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import {
  blankChange,
  type RecordChange,
  type PayloadEncoding,
  type RecordAction,
  reservedKey,
} from '../model/events.ts';
import { type Batch, type Range, partsOfKey, Places } from './batch.ts';

/** Of the registry: a zero and the schema's id. */
const frameBytes = 5;
/** Avro's encoded index of a branch of a union with null. */
const none = 0;
const some = 2;

/** Common fields of the changes of one command; contiguous. */
type CommandFields = Pick<
  RecordChange,
  | 'environment_id'
  | 'integration'
  | 'connection_id'
  | 'actor'
  | 'run_id'
  | 'connection_uid'
  | 'model'
  | 'variant'
>;

/**
 * Decodes values of `svc.records.v1` directly, the inverse of `ChangeEncoder`: a rebuild reads hundreds of thousands,
 * and texts equal to those of the previous change are reused. Values of other versions of the schema, and those with
 * named fields, go to the codec. A test compares the two.
 */
export class ChangeDecoder implements Pick<Codec<RecordChange>, 'decode'> {
  readonly #codec: Codec<RecordChange>;
  readonly #frame: Buffer;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #whoBytes: Buffer = Buffer.alloc(0);
  #who: CommandFields | null = null;
  readonly #types = new LastText();
  readonly #actions = new LastText();
  readonly #generations = new LastText();
  readonly #encodings = new LastText();
  readonly #keys = new LastText();
  readonly #syncs = new LastText();

  constructor(codec: Codec<RecordChange>) {
    this.#codec = codec;
    this.#frame = Buffer.from(codec.encode(blankChange).subarray(0, frameBytes));
  }

  /** `payload` is a view of the bytes. @throws as the codec, also Error for bytes that do not fit the schema */
  decode(value: Uint8Array): RecordChange {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
    if (this.#frame.compare(bytes, 0, frameBytes) !== 0) return this.#codec.decode(value);
    this.#bytes = bytes;
    this.#at = frameBytes;
    const change = this.#change();
    if (change === null) return this.#codec.decode(value);
    if (this.#at !== bytes.length) throw new Error('A change does not fit its schema.');
    return change;
  }

  /** Null: the codec has to read it. The fields stand in the order of the schema. */
  #change(): RecordChange | null {
    const eventId = this.#text('latin1');
    const type = this.#last(this.#types);
    const occurredAt = this.#long();
    const who = this.#readWho();
    const recordId = this.#text();
    const action = this.#last(this.#actions) as RecordAction;
    const seq = this.#long();
    const generation = this.#last(this.#generations);
    const epoch = this.#long();
    const version = this.#long();
    const position = this.#long();
    const previousPosition = this.#isSome() ? this.#long() : null;
    const payload = this.#isSome() ? this.#slice() : null;
    const encoding = this.#last(this.#encodings) as PayloadEncoding;
    const keyId = this.#isSome() ? this.#last(this.#keys) : null;
    const hash = this.#text('latin1');
    const previousHash = this.#isSome() ? this.#text('latin1') : null;
    if (this.#isSome()) return null;
    return {
      event_id: eventId,
      type,
      occurred_at: occurredAt,
      environment_id: who.environment_id,
      integration: who.integration,
      connection_id: who.connection_id,
      actor: who.actor,
      run_id: who.run_id,
      connection_uid: who.connection_uid,
      model: who.model,
      variant: who.variant,
      record_id: recordId,
      action,
      stream_seq: seq,
      stream_generation: generation,
      owner_epoch: epoch,
      version,
      position,
      previous_position: previousPosition,
      payload,
      payload_encoding: encoding,
      key_id: keyId,
      payload_hash: hash,
      previous_hash: previousHash,
      changed_fields: null,
      first_seen_at: this.#long(),
      last_modified_at: this.#long(),
      deleted_at: this.#isSome() ? this.#long() : null,
      pruned_at: this.#isSome() ? this.#long() : null,
      sync_name: this.#isSome() ? this.#last(this.#syncs) : null,
      delete_pass_id: this.#isSome() ? this.#text() : null,
    };
  }

  #readWho(): CommandFields {
    const start = this.#at;
    const end = start + this.#whoBytes.length;
    if (this.#who !== null && end <= this.#bytes.length) {
      if (this.#whoBytes.compare(this.#bytes, start, end) === 0) {
        this.#at = end;
        return this.#who;
      }
    }
    const who: CommandFields = {
      environment_id: this.#text(),
      integration: this.#isSome() ? this.#text() : null,
      connection_id: this.#isSome() ? this.#text() : null,
      actor: this.#text(),
      run_id: this.#isSome() ? this.#text() : null,
      connection_uid: this.#text(),
      model: this.#text(),
      variant: this.#text(),
    };
    this.#whoBytes = Buffer.from(this.#bytes.subarray(start, this.#at));
    this.#who = who;
    return who;
  }

  #isSome(): boolean {
    const branch = this.#bytes[this.#at++];
    if (branch === none || branch === some) return branch === some;
    throw new Error('A change does not fit its schema.');
  }

  /** Zigzag: the lowest bit is the sign. */
  #long(): number {
    const first = this.#bytes[this.#at++] ?? Number.NaN;
    let value = (first & 127) >> 1;
    let unit = 64;
    for (let byte = first; byte >= 128; unit *= 128) {
      byte = this.#bytes[this.#at++] ?? Number.NaN;
      value += (byte & 127) * unit;
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('A number is too large.');
    return (first & 1) === 0 ? value : -value - 1;
  }

  /** The end of what follows its length. */
  #end(): number {
    const length = this.#long();
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw new Error('A change is cut off.');
    return end;
  }

  /** Ids and hashes that are made here are ASCII, which is read faster as latin1. */
  #text(encoding: 'utf8' | 'latin1' = 'utf8'): string {
    const end = this.#end();
    const text = this.#bytes.toString(encoding, this.#at, end);
    this.#at = end;
    return text;
  }

  #last(last: LastText): string {
    const end = this.#end();
    const text = last.of(this.#bytes, this.#at, end);
    this.#at = end;
    return text;
  }

  #slice(): Buffer {
    const end = this.#end();
    const slice = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return slice;
  }
}

/** A text that mostly is the one before. */
class LastText {
  #bytes = Buffer.alloc(0);
  #text = '';

  of(bytes: Buffer, start: number, end: number): string {
    if (!this.#is(bytes, start, end)) {
      this.#bytes = Buffer.from(bytes.subarray(start, end));
      this.#text = this.#bytes.toString();
    }
    return this.#text;
  }

  /** Byte by byte: the texts are short, and a call into the runtime takes longer. */
  #is(bytes: Buffer, start: number, end: number): boolean {
    const existing = this.#bytes;
    if (end - start !== existing.length) return false;
    for (let at = 0; at < existing.length; at++)
      if (existing[at] !== bytes[start + at]) return false;
    return true;
  }
}

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
