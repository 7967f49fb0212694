import type { FollowOptions } from '#ports/event-log.ts';
import { type RecordChange, headsTopic, recordsTopic, reservedKey } from '../../model/events.ts';
import type { OwnerServices } from '../deps.ts';
import type { Progress, StateStore } from './state-store.ts';
import { openStore, type OpenedStore } from './store-file.ts';

/** Limits of what is restored between two commits of the store. */
const changesPerCommit = 20_000;

export interface RestoredStore extends OpenedStore {
  /** Number of changes that were read. */
  readonly read: number;
}

/**
 * Opens the store of the partition and brings it to the end of the log, from its last position or from the beginning.
 * The former owner must be fenced.
 */
export async function restore(
  services: OwnerServices,
  partition: number,
  signal: AbortSignal,
): Promise<RestoredStore> {
  const { store, progress, from } = await openStore(services, partition, signal);
  try {
    const restoring = new StoreUpdate(services, store, progress);
    await restoring.readChanges(partition, signal);
    await restoring.readHeads(partition, signal);
    signal.throwIfAborted();
    const reachedProgress = restoring.commit(services.clock.now());
    return { store, progress: reachedProgress, from, read: restoring.changesRead };
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
}

/** How a store is updated beside other work. */
export interface Throttle {
  readonly maxBytes: number;
  /** Awaited between two batches. */
  readonly turn: () => Promise<unknown>;
}

/** Updates a store from its last position. */
export class StoreUpdate {
  readonly #services: OwnerServices;
  readonly #store: StateStore;
  readonly #pacing: Throttle | null;
  /** Position in the store's metadata; its contents may be further. */
  #committedProgress: Progress;
  #reachedProgress: Progress;
  readonly #numbers = new Map<string, number>();
  #uncommitted = 0;
  changesRead = 0;

  constructor(
    services: OwnerServices,
    store: StateStore,
    progress: Progress,
    throttle: Throttle | null = null,
  ) {
    this.#services = services;
    this.#store = store;
    this.#pacing = throttle;
    this.#committedProgress = progress;
    this.#reachedProgress = progress;
  }

  /** Commits what was read, which had reached the end of the log at that time (ms). */
  commit(atEndAt: number): Progress {
    this.#committedProgress = { ...this.#reachedProgress, atEndAt };
    this.#store.commit(this.#committedProgress);
    this.#uncommitted = 0;
    return this.#committedProgress;
  }

  async readChanges(partition: number, signal: AbortSignal): Promise<void> {
    const { log, changeCodec } = this.#services;
    const from = { topic: recordsTopic, partition, offset: this.#reachedProgress.changes };
    for await (const batch of log.read(from, this.#reading(signal))) {
      for (const { key, value } of batch.messages) {
        if (key === reservedKey) continue;
        if (value === null) this.#remove(key);
        else this.#apply(key, changeCodec.decode(value));
      }
      this.changesRead += batch.messages.length;
      this.#advance({ changes: batch.next }, batch.messages.length);
      await this.#pacing?.turn();
    }
  }

  async readHeads(partition: number, signal: AbortSignal): Promise<void> {
    const { log, headCodec } = this.#services;
    const from = { topic: headsTopic, partition, offset: this.#reachedProgress.heads };
    for await (const batch of log.read(from, this.#reading(signal))) {
      let { command, lastModifiedAt, headsEpoch } = this.#reachedProgress;
      for (const { key, value } of batch.messages) {
        if (value === null) {
          this.#store.putHead(this.#number(key), null);
          continue;
        }
        const head = headCodec.decode(value);
        if (head.owner_epoch < headsEpoch) continue;
        headsEpoch = head.owner_epoch;
        command = Math.max(command, head.command_offset);
        lastModifiedAt = Math.max(lastModifiedAt, head.last_modified_at);
        if (key !== reservedKey) this.#store.putHead(this.#number(key), value);
      }
      const some = { heads: batch.next, command, lastModifiedAt, headsEpoch };
      this.#advance(some, batch.messages.length);
      await this.#pacing?.turn();
    }
  }

  #reading(signal: AbortSignal): Partial<FollowOptions> {
    return this.#pacing === null ? { signal } : { signal, maxBytes: this.#pacing.maxBytes };
  }

  #advance(some: Partial<Progress>, messages: number): void {
    this.#reachedProgress = { ...this.#reachedProgress, ...some };
    this.#uncommitted += messages;
    if (this.#uncommitted < changesPerCommit) return;
    // Keeps the transaction small. An interrupted one begins again: applying is idempotent.
    this.#store.commit(this.#committedProgress);
    this.#uncommitted = 0;
  }

  #apply(key: string, change: RecordChange): void {
    if (change.owner_epoch < this.#reachedProgress.changesEpoch) return;
    const { record_id: id, position, previous_position: previous, payload } = change;
    const { last_modified_at: modifiedAt } = change;
    if (
      modifiedAt > this.#reachedProgress.lastModifiedAt ||
      change.owner_epoch > this.#reachedProgress.changesEpoch
    ) {
      const lastModifiedAt = Math.max(modifiedAt, this.#reachedProgress.lastModifiedAt);
      this.#reachedProgress = {
        ...this.#reachedProgress,
        lastModifiedAt,
        changesEpoch: change.owner_epoch,
      };
    }
    const no = this.#number(streamOfPayloadKey(key));
    if (change.action === 'purged') {
      this.#store.remove(no, id);
      this.#store.removePayload(no, position);
      return;
    }
    this.#store.put(no, id, {
      hash: change.payload_hash,
      position,
      version: change.version,
      firstSeenAt: change.first_seen_at,
      modifiedAt,
      deletedAt: change.deleted_at,
      prunedAt: change.pruned_at,
    });
    const { payload_encoding: encoding } = change;
    this.#store.putPayload(no, position, id, { bytes: payload, encoding });
    if (previous !== null) this.#store.removePayload(no, previous);
  }

  /** A tombstone: the purged change before it may have been compacted away. */
  #remove(key: string): void {
    const stream = streamOfPayloadKey(key);
    const id = decodeURIComponent(key.slice(stream.length + 1));
    const no = this.#number(stream);
    const state = this.#store.states(no, [id]).get(id);
    if (state === undefined) return;
    this.#store.remove(no, id);
    this.#store.removePayload(no, state.position);
  }

  #number(key: string): number {
    let no = this.#numbers.get(key);
    if (no === undefined) {
      no = this.#store.stream(key)?.no ?? this.#store.addStream(key);
      this.#numbers.set(key, no);
    }
    return no;
  }
}

/** A record's key is its stream's key, a slash, and its id percent-encoded. */
const streamOfPayloadKey = (key: string): string => key.slice(0, key.lastIndexOf('/'));
