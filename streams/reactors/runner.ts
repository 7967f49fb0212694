import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { catalogue, GatewayError } from '../../src/kernel/errors.ts';
import type { Batch, EventLog, ReadMessage } from '../../src/ports/event-log.ts';

/** A message with where it lies. */
interface Taken {
  readonly topic: string;
  readonly partition: number;
  readonly message: ReadMessage;
}

export interface ReactorOptions {
  readonly log: EventLog;
  readonly group: string;
  readonly topic: string;
  readonly logger: Logger;
  /**
   * Resolves when nothing remains to be done for the message. Messages are taken in order and worked on
   * beside one another. `signal` ends when the partition or the process goes: what is unfinished then is
   * taken again by the next holder.
   */
  handle(taken: Taken, signal: AbortSignal): Promise<void>;
  /** Before the first message of a partition: `from` is where the reading begins. */
  prepare?(partition: number, from: number, signal: AbortSignal): Promise<void>;
  /** Called with a message that failed `attemptsMax` times; it is passed over when this resolves. */
  park(taken: Taken, error: unknown, attempts: number): Promise<void>;
  /** Messages of one partition being worked on; reading pauses at it. Default 1000. */
  readonly inFlightMax?: number;
  /** Wait before a failed message is tried again; doubles each time, up to 10 s. Default 200. */
  readonly retryWaitMs?: number;
  /** Where a group that has never committed begins. Default `start`. */
  readonly begin?: 'start' | 'end';
}

const attemptsMax = 5;
const retryFirstWaitMs = 200;
const retryWaitMaxMs = 10_000;
/** How often the finished position is committed while it moves. */
const commitEveryMs = 250;

/**
 * Runs a reactor as a consumer group. At least once: the committed position passes only messages that are
 * finished (a low watermark), so that a crash repeats and never skips.
 */
export async function startReactor(options: ReactorOptions): Promise<AsyncDisposable> {
  const held = new Map<number, Holder>();
  const release = async (partitions: readonly number[]): Promise<void> => {
    await Promise.all(
      partitions.map(async (partition) => {
        const holder = held.get(partition);
        held.delete(partition);
        await holder?.stop();
      }),
    );
  };
  const membership = await options.log.join(options.group, [options.topic], {
    assigned(partitions) {
      for (const partition of partitions) {
        if (!held.has(partition)) held.set(partition, hold(options, partition));
      }
    },
    revoked: release,
  });
  return {
    async [Symbol.asyncDispose]() {
      await release([...held.keys()]);
      await membership[Symbol.asyncDispose]();
    },
  };
}

interface Holder {
  stop(): Promise<void>;
}

function hold(options: ReactorOptions, partition: number): Holder {
  const stopping = new AbortController();
  const running = work(options, partition, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Works until the signal; a failure of the log is waited out. */
async function work(
  options: ReactorOptions,
  partition: number,
  signal: AbortSignal,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    const tracker = new Watermark(options, partition);
    try {
      await consume(options, partition, tracker, signal);
    } catch (error) {
      if (!isOver(signal)) {
        options.logger.warn(
          { err: error, group: options.group, partition },
          'a reactor starts again',
        );
        await pause(options, failures, signal);
      }
    } finally {
      await tracker.close();
    }
  }
}

async function consume(
  options: ReactorOptions,
  partition: number,
  tracker: Watermark,
  signal: AbortSignal,
): Promise<void> {
  const { log, topic, group } = options;
  const committed = (await log.committed(group, topic)).get(partition);
  const offset = committed ?? (await firstOffset(options, partition));
  tracker.begin(offset);
  await options.prepare?.(partition, offset, signal);
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  try {
    for await (const batch of log.follow([{ topic, partition, offset }], { signal: both })) {
      await take(options, batch, tracker, both);
    }
  } finally {
    ended.abort();
    await tracker.idle();
  }
}

function firstOffset({ log, topic, begin }: ReactorOptions, partition: number): Promise<number> {
  return begin === 'end' ? log.endOffset(topic, partition) : log.startOffset(topic, partition);
}

async function take(
  options: ReactorOptions,
  batch: Batch,
  tracker: Watermark,
  signal: AbortSignal,
): Promise<void> {
  const { topic, partition } = batch;
  for (const message of batch.messages) {
    await tracker.room(options.inFlightMax ?? 1000, signal);
    if (signal.aborted) return;
    const finish = tracker.open(message.offset);
    void insist(options, { topic, partition, message }, signal).then(finish, () => finish(false));
  }
  tracker.readTo(batch.next);
}

/** True when the message is finished; false when the signal came first. */
async function insist(
  options: ReactorOptions,
  taken: Taken,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await options.handle(taken, signal);
      return true;
    } catch (error) {
      if (isOver(signal)) return false;
      const { group, logger } = options;
      const { partition, message } = taken;
      const place = { err: error, group, partition, offset: message.offset, attempt };
      logger.warn(place, 'a message could not be processed');
      if (attempt >= attemptsMax && !isOutage(error)) {
        if (await parked(options, taken, error, attempt)) return true;
      }
      await pause(options, attempt, signal);
    }
  }
  return false;
}

async function parked(
  options: ReactorOptions,
  taken: Taken,
  error: unknown,
  attempts: number,
): Promise<boolean> {
  try {
    await options.park(taken, error, attempts);
    return true;
  } catch (failure) {
    options.logger.warn({ err: failure, group: options.group }, 'a message could not be set aside');
    return false;
  }
}

/** A signal that may have ended while something was awaited. */
const isOver = (signal: AbortSignal): boolean => signal.aborted;

/** The message is not to blame: it is tried for as long as it takes. */
function isOutage(error: unknown): boolean {
  return error instanceof GatewayError && 'isRetryable' in catalogue[error.code];
}

async function pause(
  { retryWaitMs = retryFirstWaitMs }: ReactorOptions,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const ms = Math.min(retryWaitMs * 2 ** Math.min(attempt, 10), retryWaitMaxMs);
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

/** Knows the lowest offset that is not finished, and commits it while it moves. */
class Watermark {
  readonly #options: ReactorOptions;
  readonly #partition: number;
  /** Unfinished offsets, in ascending order: they are opened in that order. */
  readonly #open = new Set<number>();
  /** Offsets given up on a stop: the position must not pass them. */
  #stuckAt: number | null = null;
  #next = 0;
  #committed = 0;
  #timer: NodeJS.Timeout | null = null;
  #committing: Promise<void> = Promise.resolve();
  #wake: (() => void)[] = [];

  constructor(options: ReactorOptions, partition: number) {
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
