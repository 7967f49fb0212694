import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordChange } from '../../../src/modules/records/events.ts';
import { headsTopic, recordsTopic, reservedKey } from '../../../src/modules/records/stream-head.ts';
import type { Shared } from './deps.ts';
import { StateStore, type Progress } from './state-store.ts';

const dayMs = 86_400_000;
/** A store that was not at the end for so long may have missed tombstones: half the shortest delete retention. */
const resumableMs = 3 * dayMs;
/** What is restored between two commits of the store. */
const changesPerCommit = 20_000;

const nothingYet: Progress = {
  changes: 0,
  heads: 0,
  command: -1,
  epoch: 0,
  lastModifiedAt: 0,
  atEndAt: 0,
};

/** A store that has all that the log has. */
export interface Restored {
  readonly store: StateStore;
  readonly progress: Progress;
}

/**
 * Opens the store of the partition and brings it to the end of the log: from where it was left, or from the
 * beginning. The former owner must be fenced.
 */
export async function restore(
  shared: Shared,
  partition: number,
  signal: AbortSignal,
): Promise<Restored> {
  const { store, progress } = await openStore(shared, partition);
  try {
    const restoring = new Restoring(shared, store, progress);
    await restoring.readChanges(partition, signal);
    await restoring.readHeads(partition, signal);
    signal.throwIfAborted();
    const reached = restoring.progress(shared.clock.now());
    store.commit(reached);
    return { store, progress: reached };
  } catch (error) {
    store[Symbol.dispose]();
    throw error;
  }
}

async function openStore(shared: Shared, partition: number): Promise<Restored> {
  const { directory, logger } = shared;
  mkdirSync(directory, { recursive: true });
  const file = join(directory, `records-${partition}.db`);
  const kept = openKept(shared, partition, file);
  if (kept !== null) {
    try {
      if (await isResumable(shared, partition, kept.progress)) return kept;
    } catch (error) {
      kept.store[Symbol.dispose]();
      throw error;
    }
    kept.store[Symbol.dispose]();
    logger.info({ partition }, 'a state store of records is rebuilt from the log');
  }
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
  return { store: new StateStore(file), progress: nothingYet };
}

/** What is left of an earlier time; null when it is of no use. */
function openKept({ logger }: Shared, partition: number, file: string): Restored | null {
  if (!existsSync(file)) return null;
  let store: StateStore | null = null;
  try {
    store = new StateStore(file);
    const progress = store.progress();
    if (progress !== null) return { store, progress };
  } catch (err) {
    logger.warn({ err, partition }, 'a state store of records cannot be opened');
  }
  store?.[Symbol.dispose]();
  return null;
}

async function isResumable(
  { log, clock }: Shared,
  partition: number,
  { changes, heads, atEndAt }: Progress,
): Promise<boolean> {
  const age = clock.now() - atEndAt;
  if (age >= resumableMs || age < -dayMs) return false;
  const changesEnd = await log.endOffset(recordsTopic, partition);
  const headsEnd = await log.endOffset(headsTopic, partition);
  return changes <= changesEnd && heads <= headsEnd;
}

class Restoring {
  readonly #shared: Shared;
  readonly #store: StateStore;
  readonly #start: Progress;
  #reached: Progress;
  /** Each topic has epochs of its own: the newest head of a quiet stream is older than others' changes. */
  #changesEpoch: number;
  #headsEpoch: number;
  readonly #numbers = new Map<string, number>();
  #uncommitted = 0;

  constructor(shared: Shared, store: StateStore, progress: Progress) {
    this.#shared = shared;
    this.#store = store;
    this.#start = progress;
    this.#reached = progress;
    this.#changesEpoch = progress.epoch;
    this.#headsEpoch = progress.epoch;
  }

  progress(atEndAt: number): Progress {
    const epoch = Math.max(this.#changesEpoch, this.#headsEpoch);
    return { ...this.#reached, epoch, atEndAt };
  }

  async readChanges(partition: number, signal: AbortSignal): Promise<void> {
    const { log, changeCodec } = this.#shared;
    const from = { topic: recordsTopic, partition, offset: this.#start.changes };
    for await (const batch of log.read(from, { signal })) {
      for (const { key, value } of batch.messages) {
        if (key === reservedKey) continue;
        if (value === null) this.#remove(key);
        else this.#apply(key, changeCodec.decode(value));
      }
      this.#advance({ changes: batch.next }, batch.messages.length);
    }
  }

  async readHeads(partition: number, signal: AbortSignal): Promise<void> {
    const { log, headCodec } = this.#shared;
    const from = { topic: headsTopic, partition, offset: this.#start.heads };
    for await (const batch of log.read(from, { signal })) {
      let { command, lastModifiedAt } = this.#reached;
      for (const { key, value } of batch.messages) {
        if (value === null) {
          this.#store.putHead(this.#number(key), null);
          continue;
        }
        const head = headCodec.decode(value);
        if (head.owner_epoch < this.#headsEpoch) continue;
        this.#headsEpoch = head.owner_epoch;
        command = Math.max(command, head.command_offset);
        lastModifiedAt = Math.max(lastModifiedAt, head.last_modified_at);
        if (key !== reservedKey) this.#store.putHead(this.#number(key), value);
      }
      this.#advance({ heads: batch.next, command, lastModifiedAt }, batch.messages.length);
    }
  }

  #advance(some: Partial<Progress>, messages: number): void {
    this.#reached = { ...this.#reached, ...some };
    this.#uncommitted += messages;
    if (this.#uncommitted < changesPerCommit) return;
    // Keeps the transaction small. What is interrupted begins again: applying twice comes to the same.
    this.#store.commit(this.#start);
    this.#uncommitted = 0;
  }

  #apply(key: string, change: RecordChange): void {
    if (change.owner_epoch < this.#changesEpoch) return;
    this.#changesEpoch = change.owner_epoch;
    const { record_id: id, position, previous_position: previous, payload } = change;
    const { last_modified_at: modifiedAt } = change;
    if (modifiedAt > this.#reached.lastModifiedAt) {
      this.#reached = { ...this.#reached, lastModifiedAt: modifiedAt };
    }
    const no = this.#number(streamOf(key));
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
    const isSealed = change.payload_encoding === 'json+aes256gcm';
    this.#store.putPayload(no, position, id, { bytes: payload, isSealed });
    if (previous !== null) this.#store.removePayload(no, previous);
  }

  /** A tombstone: the purged change before it may have been compacted away. */
  #remove(key: string): void {
    const stream = streamOf(key);
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
const streamOf = (key: string): string => key.slice(0, key.lastIndexOf('/'));
