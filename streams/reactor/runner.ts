import { inSpan, inTrace, processing, traceHeader, traceOf } from '#control-plane/trace.ts';
import { GatewayError, isOutage } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isOver, pause as wait } from '#kernel/retry.ts';
import type { Batch } from '#ports/event-log.ts';
import type { DeadLetter } from '../dead-letters/state.ts';
import { HeldPartitions } from '../held-partitions.ts';
import type { MessageReactor, ReactorDeps, ReactorOptions, ConsumedMessage } from './reactor.ts';

/** Starts a reactor to the values of a topic; tombstones are skipped. */
export async function startReactor<Value>(
  { log, schemas, logger, operatorRequests }: ReactorDeps,
  { type, handle, ...options }: ReactorOptions<Value>,
): Promise<AsyncDisposable> {
  const codec = await schemas.codec<Value>(options.topic);
  return startMessageReactor({
    ...{ log, logger, operatorRequests },
    ...options,
    async handle(consumed, signal) {
      const { value, headers } = consumed.message;
      const isOther = type !== undefined && (headers['ce_type'] ?? type) !== type;
      if (value === null || isOther) return;
      const { topic, partition, message } = consumed;
      const fields = { partition, offset: message.offset, group: options.group };
      await inSpan(
        () => processing(topic, fields),
        () => handle(codec.decode(value), consumed, signal),
      );
    },
  });
}

/**
 * Runs a reactor as a consumer group. At least once: the committed position passes only messages that are
 * finished (a low watermark), so that a crash repeats and never skips.
 */
export async function startMessageReactor(options: MessageReactor): Promise<AsyncDisposable> {
  const held = new HeldPartitions(async (partition, signal) => {
    await Promise.all([
      runTasks(options, partition, signal),
      retryDeadLetters(options, partition, signal),
    ]);
  });
  const membership = await options.log.join(options.group, [options.topic], held);
  return {
    async [Symbol.asyncDispose]() {
      await held.releaseAll();
      await membership[Symbol.asyncDispose]();
    },
  };
}

/**
 * Runs until the signal aborts; waits out failures of the log. An operator's reset ends the pass: running work is
 * aborted, the position moves, and the next pass begins there.
 */
async function runTasks(
  options: MessageReactor,
  partition: number,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted;) {
    const watermark = new Watermark(options, partition);
    try {
      await takeTurn(options, partition, watermark, signal);
      failures = 0;
    } catch (error) {
      if (isOver(signal)) break;
      const { group, logger } = options;
      logger.warn({ err: error, group, partition }, 'a reactor starts again');
      await pause(options, failures++, signal);
    } finally {
      await watermark.close();
    }
  }
}

async function takeTurn(
  options: MessageReactor,
  partition: number,
  watermark: Watermark,
  signal: AbortSignal,
): Promise<void> {
  const { operatorRequests } = options;
  const ended = new AbortController();
  const isAsked = (): boolean => operatorRequests.pendingReset(partition) !== null;
  const stopLooking = operatorRequests.onChange(() => {
    if (isAsked()) ended.abort();
  });
  try {
    await applyReset(options, partition);
    if (!isAsked()) {
      await consume(options, partition, watermark, AbortSignal.any([signal, ended.signal]));
    }
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    stopLooking();
    ended.abort();
    await watermark.idle();
  }
}

async function applyReset(
  { log, group, topic, operatorRequests }: MessageReactor,
  partition: number,
): Promise<void> {
  await operatorRequests.current();
  const reset = operatorRequests.pendingReset(partition);
  if (reset === null) return;
  await log.commit({ group, positions: [{ topic, partition, offset: reset.to }] });
  await operatorRequests.applied(partition, reset);
}

async function consume(
  options: MessageReactor,
  partition: number,
  watermark: Watermark,
  signal: AbortSignal,
): Promise<void> {
  const { log, topic, group, operatorRequests } = options;
  const committed = (await log.committed(group, topic)).get(partition);
  const offset = committed ?? (await firstOffset(options, partition));
  watermark.begin(offset);
  const replay = operatorRequests.replayAt(partition, offset);
  await options.prepare?.(partition, offset, signal, replay);
  for await (const batch of log.follow([{ topic, partition, offset }], { signal })) {
    await take(options, batch, watermark, signal);
    // Later messages come after unfinished ones.
    if (isOver(signal)) return;
  }
}

function firstOffset({ log, topic, begin }: MessageReactor, partition: number): Promise<number> {
  return begin === 'end' ? log.endOffset(topic, partition) : log.startOffset(topic, partition);
}

async function take(
  options: MessageReactor,
  batch: Batch,
  watermark: Watermark,
  signal: AbortSignal,
): Promise<void> {
  const { topic, partition } = batch;
  for (const message of batch.messages) {
    await watermark.room(options.inFlightMax ?? 1000, signal);
    if (isOver(signal)) return;
    const finish = watermark.open(message.offset);
    const replay = options.operatorRequests.replayAt(partition, message.offset);
    const taken = { topic, partition, message, replay };
    const trace = traceOf(message.headers[traceHeader]);
    void inTrace(trace, () => retryMessage(options, taken, signal)).then(finish, () =>
      finish(false),
    );
  }
  watermark.readTo(batch.next);
}

/** How often the finished position is committed while it moves. */
const commitEveryMs = 250;

type CommitContext = Pick<MessageReactor, 'log' | 'group' | 'topic' | 'logger'>;

/** Tracks the lowest unfinished offset, and commits it while it moves. */
class Watermark {
  readonly #options: CommitContext;
  readonly #partition: number;
  /** Unfinished offsets, ascending: they are opened in that order. */
  readonly #open = new Set<number>();
  /** Offset abandoned on a stop: the position must not pass it. */
  #stuckAt: number | null = null;
  #next = 0;
  #committed = 0;
  #timer: NodeJS.Timeout | null = null;
  #committing: Promise<void> = Promise.resolve();
  #wake: (() => void)[] = [];

  constructor(options: CommitContext, partition: number) {
    this.#options = options;
    this.#partition = partition;
  }

  begin(offset: number): void {
    this.#next = offset;
    this.#committed = offset;
  }

  open(offset: number): (isFinished: boolean) => void {
    this.#open.add(offset);
    this.#next = Math.max(this.#next, offset + 1);
    return (isFinished) => {
      if (!isFinished) this.#stuckAt = Math.min(this.#stuckAt ?? offset, offset);
      this.#open.delete(offset);
      for (const wake of this.#wake.splice(0)) wake();
      this.#schedule();
    };
  }

  readTo(next: number): void {
    this.#next = Math.max(this.#next, next);
    this.#schedule();
  }

  async room(max: number, signal: AbortSignal): Promise<void> {
    while (this.#open.size >= max && !signal.aborted) await this.#changed(signal);
  }

  async idle(): Promise<void> {
    while (this.#open.size > 0) await this.#changed();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#commit();
    await this.#committing;
  }

  #changed(signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = () => resolve(undefined);
    this.#wake.push(wake);
    signal?.addEventListener('abort', wake, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', wake));
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#commit();
    }, commitEveryMs);
  }

  #commit(): void {
    const [oldest = this.#next] = this.#open;
    const offset = Math.min(oldest, this.#stuckAt ?? oldest);
    if (offset <= this.#committed) return;
    this.#committed = offset;
    const { log, group, topic, logger } = this.#options;
    const positions = [{ topic, partition: this.#partition, offset }];
    this.#committing = this.#committing
      .then(() => log.commit({ group, positions }))
      .catch((error: unknown) =>
        logger.warn({ err: error, group }, 'a position was not committed'),
      );
  }
}

const retryFirstWaitMs = 200;
const retryWaitMaxMs = 10_000;

/** True when the message is finished; false when the signal aborted first. */
async function retryMessage(
  options: MessageReactor,
  consumed: ConsumedMessage,
  signal: AbortSignal,
): Promise<boolean> {
  let failures = 0;
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
      if (!isOutage(error)) {
        failures += 1;
        if (
          failures >= limits.deadLetterFailures &&
          (await parked(options, consumed, error, failures))
        ) {
          return true;
        }
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

async function pause(
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
async function retryDeadLetters(
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
