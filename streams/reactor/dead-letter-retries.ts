import { GatewayError } from '../../src/kernel/errors.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import { isOutage, pause } from './retry-message.ts';
import type { MessageReactor } from './reactor.ts';

/**
 * Processes the dead letters of the partition that operators want retried, sequentially, until the signal aborts.
 * The next holder processes unfinished ones.
 */
export async function retryDeadLetters(
  options: MessageReactor,
  partition: number,
  signal: AbortSignal,
): Promise<void> {
  const { orders, logger, group } = options;
  let wake: () => void = () => undefined;
  const stop = orders.onChange(() => wake());
  signal.addEventListener('abort', () => wake(), { once: true });
  let isCurrent = false;
  try {
    for (let failures = 0; !signal.aborted;) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      try {
        // The outcomes of the former holder must be known first.
        if (!isCurrent) await orders.current();
        isCurrent = true;
        const deadLetter = orders.nextRetry(partition);
        if (deadLetter === null) await changed;
        else await retryOnce(options, deadLetter, signal);
        failures = 0;
      } catch (err) {
        if (isOver(signal)) return;
        logger.warn({ err, group, partition }, 'a dead letter could not be retried yet');
        await pause(options, failures++, signal);
      }
    }
  } finally {
    stop();
  }
}

/** @throws the error of an outage: the dead letter is retried */
async function retryOnce(
  options: MessageReactor,
  deadLetter: DeadLetter,
  signal: AbortSignal,
): Promise<void> {
  const { orders } = options;
  const taken = await orders.retryMessage(deadLetter);
  if (taken === null) {
    const message = 'The log has let go of the message.';
    await orders.retried(deadLetter, {
      error: new GatewayError('not_found', { message }),
    });
    return;
  }
  try {
    await options.handle(taken, signal);
  } catch (error) {
    if (isOver(signal) || isOutage(error)) throw error;
    await orders.retried(deadLetter, { error });
    return;
  }
  await orders.retried(deadLetter, 'done');
}

const isOver = (signal: AbortSignal): boolean => signal.aborted;
