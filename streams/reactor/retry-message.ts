import { GatewayError, isOutage } from '#kernel/errors.ts';
import { isOver, pause as wait } from '#kernel/retry.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import type { MessageReactor, ConsumedMessage } from './reactor.ts';

const attemptsMax = 5;
const retryFirstWaitMs = 200;
const retryWaitMaxMs = 10_000;

/** True when the message is finished; false when the signal aborted first. */
export async function retryMessage(
  options: MessageReactor,
  consumed: ConsumedMessage,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await options.handle(consumed, signal);
      return true;
    } catch (error) {
      if (isOver(signal)) return false;
      const { group, logger } = options;
      const { partition, message } = consumed;
      const logFields = { err: error, group, partition, offset: message.offset, attempt };
      logger.warn(logFields, 'a message could not be processed');
      // In an outage the message is not to blame: it is retried without limit.
      if (attempt >= attemptsMax && !isOutage(error)) {
        if (await parked(options, consumed, error, attempt)) return true;
      }
      await pause(options, attempt, signal);
    }
  }
  return false;
}

async function parked(
  options: MessageReactor,
  consumed: ConsumedMessage,
  error: unknown,
  attempts: number,
): Promise<boolean> {
  try {
    await options.operatorRequests.park(consumed, error, attempts);
    return true;
  } catch (failure) {
    options.logger.warn({ err: failure, group: options.group }, 'a message could not be parked');
    return false;
  }
}

export async function pause(
  { retryWaitMs = retryFirstWaitMs }: MessageReactor,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const ms = Math.min(retryWaitMs * 2 ** Math.min(attempt, 10), retryWaitMaxMs);
  await wait(ms, signal);
}

/**
 * Processes the dead letters of the partition that operators want retried, sequentially, until the signal aborts.
 * The next holder processes unfinished ones.
 */
export async function retryDeadLetters(
  options: MessageReactor,
  partition: number,
  signal: AbortSignal,
): Promise<void> {
  const { operatorRequests, logger, group } = options;
  let wake: () => void = () => undefined;
  const stop = operatorRequests.onChange(() => wake());
  signal.addEventListener('abort', () => wake(), { once: true });
  let isCurrent = false;
  try {
    for (let failures = 0; !signal.aborted;) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      try {
        // The outcomes of the former holder must be known first.
        if (!isCurrent) await operatorRequests.current();
        isCurrent = true;
        const deadLetter = operatorRequests.nextRetry(partition);
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
  const { operatorRequests } = options;
  const consumed = await operatorRequests.retryMessage(deadLetter);
  if (consumed === null) {
    const message = 'The log has let go of the message.';
    await operatorRequests.retried(deadLetter, {
      error: new GatewayError('not_found', { message }),
    });
    return;
  }
  try {
    await options.handle(consumed, signal);
  } catch (error) {
    if (isOver(signal) || isOutage(error)) throw error;
    await operatorRequests.retried(deadLetter, { error });
    return;
  }
  await operatorRequests.retried(deadLetter, 'done');
}
