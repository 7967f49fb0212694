import { existsSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDisposableDatabase } from '#control-plane/disposable-database.ts';
import { dayMs } from '#kernel/time.ts';
import { headsTopic, recordsTopic } from '../../stream-head.ts';
import type { Shared } from '../deps.ts';
import { createAtRestEncryption } from '../encryption/at-rest-encryption.ts';
import { StateStore, type Progress } from './state-store.ts';

/** Maximum lag of a store before it may have missed tombstones: half the shortest delete retention. */
export const resumableMs = 3 * dayMs;

const nothingYet: Progress = {
  changes: 0,
  heads: 0,
  command: -1,
  changesEpoch: 0,
  headsEpoch: 0,
  lastModifiedAt: 0,
  atEndAt: 0,
};

/** A store and its position in the log. */
export interface OpenedStore {
  readonly store: StateStore;
  readonly progress: Progress;
  readonly from: 'own store' | 'snapshot' | 'log alone';
}

/** Who opens it: an owner has fenced the previous one, so that the ends of the log include all of its writes. */
export interface Opening {
  readonly isOwner: boolean;
  readonly signal: AbortSignal;
}

/**
 * Opens the store of the partition at its last position; otherwise a copy of its snapshot; otherwise an empty one,
 * which is filled from the log. A store that is corrupt, too old, of another log, or ahead of the log is refused.
 */
export async function openStore(
  shared: Shared,
  partition: number,
  { isOwner, signal }: Opening,
): Promise<OpenedStore> {
  const { directory, snapshots } = shared;
  mkdirSync(directory, { recursive: true });
  const file = storeFile(shared, partition);
  const kept = await openResumable(shared, partition, file);
  if (kept !== null) return { ...kept, from: 'own store' };
  removeDisposableDatabase(file);
  const snapshot = await snapshots?.fetch(partition, file, signal);
  if (snapshot !== null && snapshot !== undefined) {
    const found = await openResumable(shared, partition, file);
    if (found !== null) return { ...found, from: 'snapshot' };
    removeDisposableDatabase(file);
    // Once the log has grown past it, it could be mistaken for one of this log.
    if (isOwner) await rm(snapshot, { force: true });
  }
  const store = new StateStore(
    file,
    originOf(shared, partition),
    createAtRestEncryption(shared.vault),
  );
  return { store, progress: nothingYet, from: 'log alone' };
}

export const storeFile = ({ directory }: Pick<Shared, 'directory'>, partition: number): string =>
  join(directory, `records-${partition}.db`);

const originOf = ({ origin }: Shared, partition: number): string => `${origin}/${partition}`;

type Kept = Omit<OpenedStore, 'from'>;

async function openResumable(
  shared: Shared,
  partition: number,
  file: string,
): Promise<Kept | null> {
  const kept = openKept(shared, partition, file);
  if (kept === null) return null;
  let refusal: string | null = 'the log cannot be asked';
  try {
    refusal = await refusalOf(shared, partition, kept.progress);
  } finally {
    if (refusal !== null) kept.store[Symbol.dispose]();
  }
  if (refusal === null) return kept;
  shared.logger.warn({ partition, file, refusal }, 'a state store of records is not used');
  return null;
}

/** An earlier store; null when it cannot be used. */
function openKept(shared: Shared, partition: number, file: string): Kept | null {
  if (!existsSync(file)) return null;
  let store: StateStore | null = null;
  try {
    store = new StateStore(file, originOf(shared, partition), createAtRestEncryption(shared.vault));
    const progress = store.progress();
    if (progress !== null) return { store, progress };
  } catch (err) {
    shared.logger.warn({ err, partition, file }, 'a state store of records cannot be opened');
  }
  store?.[Symbol.dispose]();
  return null;
}

/** Why the log cannot be read on from there, or null. */
async function refusalOf(
  { log, clock }: Shared,
  partition: number,
  { changes, heads, atEndAt }: Progress,
): Promise<string | null> {
  const age = clock.now() - atEndAt;
  if (age >= resumableMs) return 'it was not at the end of the log for over 3 days';
  if (age < -dayMs) return 'it is of a time to come';
  const changesEnd = await log.endOffset(recordsTopic, partition);
  const headsEnd = await log.endOffset(headsTopic, partition);
  return changes <= changesEnd && heads <= headsEnd ? null : 'it has more than the log';
}
