import type { TransactionalWriter } from '#ports/event-log.ts';
import { recordCommandsTopic } from '../model/commands.ts';
import { headsTopic, reservedKey } from '../model/events.ts';
import { markSeen } from './decisions/delete-tracking.ts';
import type { OwnerServices } from './deps.ts';
import { restore } from './state/restore.ts';
import type { Progress, StateStore } from './state/state-store.ts';
import { fromHead, partitionHead, type StreamState } from './state/stream-state.ts';
import { Streams } from './state/streams.ts';

/** A partition that this node owns. */
export interface AcquiredPartition {
  readonly partition: number;
  readonly writer: TransactionalWriter;
  readonly store: StateStore;
  readonly streams: Streams;
  readonly progress: Progress;
}

/**
 * Acquires a partition (docs/adr/0018-who-may-still-write.md): fences the former owner, restores the state from the
 * log, raises the epoch. Decisions resume after `progress.command`.
 * @throws GatewayError `writer_fenced` when another node has acquired it meanwhile
 */
export async function acquirePartition(
  services: OwnerServices,
  partition: number,
  signal: AbortSignal,
): Promise<AcquiredPartition> {
  await using opened = new AsyncDisposableStack();
  const begun = performance.now();
  const writer = opened.use(await services.log.openWriter(`records/${partition}`));
  const restored = await restore(services, partition, signal);
  const store = opened.use(restored.store);
  const progress = await raiseEpoch(services, partition, writer, restored.progress);
  const streams = new Streams(store, services.headCodec);
  await recoverSeen(services, partition, streams, store, progress.command);
  opened.move();
  const { from, read } = restored;
  const took = { partition, epoch: progress.headsEpoch, from, read };
  const tookMs = Math.round(performance.now() - begun);
  services.logger.info({ ...took, tookMs }, 'a partition of records was taken over');
  return { partition, writer, store, streams, progress };
}

async function raiseEpoch(
  { headCodec }: OwnerServices,
  partition: number,
  writer: TransactionalWriter,
  restoredProgress: Progress,
): Promise<Progress> {
  const epoch = Math.max(restoredProgress.changesEpoch, restoredProgress.headsEpoch) + 1;
  const { command, lastModifiedAt } = restoredProgress;
  const value = headCodec.encode(partitionHead({ epoch, command, lastModifiedAt }));
  const headers = { 'content-type': 'application/avro' };
  const messages = [{ key: reservedKey, value, headers }];
  const [position] = await writer.commit([{ topic: headsTopic, partition, messages }]);
  const heads = (position?.offset ?? restoredProgress.heads) + 1;
  return { ...restoredProgress, changesEpoch: epoch, headsEpoch: epoch, heads };
}

/** Marks that no head has yet: the later commands are read again. */
async function recoverSeen(
  services: OwnerServices,
  partition: number,
  streams: Streams,
  store: StateStore,
  command: number,
): Promise<void> {
  const open = new Map<string, StreamState>();
  for (const { no, key, head } of store.heads()) {
    const value = services.headCodec.decode(head);
    if (value.passes.length === 0) continue;
    const stream = fromHead(no, key, value, services.clock.now());
    streams.keep(stream);
    open.set(key, stream);
  }
  if (open.size === 0) return;
  await loseUnreadable(services, partition, [...open.values()], command);
  const offsets = [...open.values()].flatMap((stream) => stream.passes.map(nextOf));
  const offset = Math.min(...offsets);
  if (offset > command) return;
  const from = { topic: recordCommandsTopic, partition, offset };
  for await (const batch of services.log.read(from)) {
    for (const message of batch.messages) {
      if (message.offset > command) return;
      const stream = open.get(message.key);
      if (stream === undefined || message.value === null) continue;
      restoreSeen(services, store, stream, message.offset, message.value);
    }
  }
}

const nextOf = ({ savedOffset }: { readonly savedOffset: number }): number => savedOffset + 1;

/** A pass with later commands deleted from the log has incomplete marks. */
async function loseUnreadable(
  { log, logger }: OwnerServices,
  partition: number,
  streams: readonly StreamState[],
  command: number,
): Promise<void> {
  const start = await log.startOffset(recordCommandsTopic, partition);
  for (const stream of streams) {
    stream.passes = stream.passes.map((pass) => {
      if (nextOf(pass) >= start || pass.savedOffset >= command || pass.isLost) return pass;
      logger.warn({ partition, stream: stream.key }, 'the marks of a delete pass are lost');
      return { ...pass, isLost: true };
    });
  }
}

function restoreSeen(
  { commandCodec, logger }: OwnerServices,
  store: StateStore,
  stream: StreamState,
  offset: number,
  value: Uint8Array,
): void {
  try {
    const { kind, ids } = commandCodec.decode(value);
    if (kind !== 'save' && kind !== 'update') return;
    const passes = stream.passes.filter(({ savedOffset }) => savedOffset < offset);
    if (passes.length === 0) return;
    for (const { position, deletedAt } of store.states(stream.no, ids).values()) {
      if (deletedAt === null) markSeen(passes, position);
    }
  } catch (err) {
    // It was dead-lettered: it saved nothing.
    logger.warn({ err, offset }, 'a command that marks are recovered from cannot be read');
  }
}
