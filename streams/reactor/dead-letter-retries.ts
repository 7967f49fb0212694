import { GatewayError } from '../../src/kernel/errors.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import { isOutage, pause } from './retry-message.ts';
import type { ReactorOptions } from './reactor.ts';

/**
 * Takes the letters of the partition that operators want to be tried again, one after the other, until the
 * signal. What is unfinished then is tried by the next holder.
 */
export async function retryDeadLetters(
  options: ReactorOptions,
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
        // What the holder before has tried must be known first.
        if (!isCurrent) await orders.current();
        isCurrent = true;
        const deadLetter = orders.nextRetry(partition);
        if (deadLetter === null) await changed;
        else await retryOnce(options, deadLetter, signal);
        failures = 0;
      } catch (err) {
        if (isOver(signal)) return;
        logger.warn({ err, group, partition }, 'a dead letter could not be tried again yet');
        await pause(options, failures++, signal);
      }
    }
  } finally {
    stop();
  }
}

/** @throws what an outage fails with: the letter is tried again */
async function retryOnce(
  options: ReactorOptions,
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
