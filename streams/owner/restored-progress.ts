import type { Logger } from 'pino';
import { controlTopic } from '#control-plane/message-codec.ts';
import { GatewayError } from '#kernel/errors.ts';
import { freshProgress, type ControlStateStore, type OwnerProgress } from './state-store.ts';

/**
 * Where the log is read on from; that of an emptied store where its own is corrupt.
 * @param end of the partition in the log, from which the former owner is fenced
 * @throws GatewayError `log_incomplete` when the store is ahead of the log, which has lost messages
 */
export function restoredProgress(
  store: ControlStateStore,
  end: number,
  { partition, logger }: { readonly partition: number; readonly logger: Logger },
): OwnerProgress {
  const progress = storedProgress(store, { partition, logger });
  if (progress.next <= end) return progress;
  const message = `The event log lacks ${progress.next - end} acknowledged messages, by offset: ${controlTopic}/${partition} ${end} to ${progress.next - 1}; a state store of the control plane on this node has them.`;
  throw new GatewayError('log_incomplete', { message });
}

function storedProgress(
  store: ControlStateStore,
  { partition, logger }: { readonly partition: number; readonly logger: Logger },
): OwnerProgress {
  try {
    return store.progress();
  } catch (err) {
    logger.warn({ err, partition }, 'a state store of the control plane is not used');
    store.clear();
    return freshProgress;
  }
}
