import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeDisposableDatabase } from '#control-plane/disposable-database.ts';
import { GatewayError } from '#kernel/errors.ts';
import { dayMs } from '#kernel/time.ts';
import type { Position } from '#ports/event-log.ts';
import { headsTopic, recordsTopic } from '../../model/events.ts';
import type { OwnerServices } from '../deps.ts';
import { createAtRestEncryption } from '../encryption.ts';
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

/**
 * Opens the store of the partition at its last position; otherwise a copy of its snapshot; otherwise an empty one,
 * which is filled from the log. A store that is corrupt, too old, or of another log is refused.
 * @throws GatewayError `log_incomplete` when the store or the snapshot is ahead of the log, which has lost messages
 */
export async function openStore(
  services: OwnerServices,
  partition: number,
  signal: AbortSignal,
): Promise<OpenedStore> {
  const { directory, snapshots } = services;
  mkdirSync(directory, { recursive: true });
  const file = storeFile(services, partition);
  const kept = await openResumable(services, partition, file);
  if (kept !== null) return { ...kept, from: 'own store' };
  removeDisposableDatabase(file);
  const snapshot = await snapshots?.fetch(partition, file, signal);
  if (snapshot !== null && snapshot !== undefined) {
    const found = await openResumable(services, partition, file);
    if (found !== null) return { ...found, from: 'snapshot' };
    removeDisposableDatabase(file);
  }
  const store = new StateStore(
    file,
    originOf(services, partition),
    createAtRestEncryption(services.vault),
  );
  return { store, progress: nothingYet, from: 'log alone' };
}

export const storeFile = (
  { directory }: Pick<OwnerServices, 'directory'>,
  partition: number,
): string => join(directory, `records-${partition}.db`);

const originOf = ({ origin }: OwnerServices, partition: number): string => `${origin}/${partition}`;

type ReusableStore = Omit<OpenedStore, 'from'>;

async function openResumable(
  services: OwnerServices,
  partition: number,
  file: string,
): Promise<ReusableStore | null> {
  const kept = openKept(services, partition, file);
  if (kept === null) return null;
  let refusal: string | null = 'the log cannot be asked';
  try {
    refusal = await refusalOf(services, partition, kept.progress);
  } finally {
    if (refusal !== null) kept.store[Symbol.dispose]();
  }
  if (refusal === null) return kept;
  services.logger.warn({ partition, file, refusal }, 'a state store of records is not used');
  return null;
}

/** An earlier store; null when it cannot be used. */
function openKept(services: OwnerServices, partition: number, file: string): ReusableStore | null {
  if (!existsSync(file)) return null;
  let store: StateStore | null = null;
  try {
    store = new StateStore(
      file,
      originOf(services, partition),
      createAtRestEncryption(services.vault),
    );
    const progress = store.progress();
    if (progress !== null) return { store, progress };
  } catch (err) {
    services.logger.warn({ err, partition, file }, 'a state store of records cannot be opened');
  }
  store?.[Symbol.dispose]();
  return null;
}

/** Why the log cannot be read on from there, or null. */
async function refusalOf(
  { log, clock }: OwnerServices,
  partition: number,
  { changes, heads, atEndAt }: Progress,
): Promise<string | null> {
  await mustReach(log, { topic: recordsTopic, partition, offset: changes });
  await mustReach(log, { topic: headsTopic, partition, offset: heads });
  const age = clock.now() - atEndAt;
  if (age >= resumableMs) return 'it was not at the end of the log for over 3 days';
  if (age < -dayMs) return 'it is of a time to come';
  return null;
}

/** What was read from the log was acknowledged. @throws GatewayError `log_incomplete` */
async function mustReach(
  log: OwnerServices['log'],
  { topic, partition, offset }: Position,
): Promise<void> {
  const end = await log.endOffset(topic, partition);
  if (offset <= end) return;
  const message = `The event log lacks ${offset - end} acknowledged messages, by offset: ${topic}/${partition} ${end} to ${offset - 1}; a state store of records on this node has them.`;
  throw new GatewayError('log_incomplete', { message });
}
