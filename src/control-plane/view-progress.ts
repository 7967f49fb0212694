import { setTimeout as delay } from 'node:timers/promises';
import { GatewayError } from '../kernel/errors.ts';
import type { EventLog } from '../ports/event-log.ts';
import type { PartitionProgress } from './view-store.ts';
import { controlTopic } from './message-codec.ts';

const catchUpTimeoutMs = 10_000;
/** One check serves all callers within this time. */
const checkEveryMs = 50;

type Condition = (partitionProgress: PartitionProgress) => boolean;

/** Callers that wait for a view to apply a position of a partition. */
export class Waiting {
  readonly #progress: ReadonlyMap<number, PartitionProgress>;
  readonly #waiters = new Set<{
    readonly partition: number;
    readonly condition: Condition;
    readonly resolve: () => void;
  }>();

  constructor(progress: ReadonlyMap<number, PartitionProgress>) {
    this.#progress = progress;
  }

  progressed(partition: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.partition === partition && this.#holds(partition, waiter.condition)) {
        waiter.resolve();
      }
    }
  }

  /** @throws GatewayError `log_unavailable` after the time */
  async until(partition: number, condition: Condition, timeoutMs: number): Promise<void> {
    if (this.#holds(partition, condition)) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter = { partition, condition, resolve: () => resolve(undefined) };
    const tooLate = (): void => {
      const message = 'This node has not applied the decision in time.';
      reject(new GatewayError('log_unavailable', { message }));
    };
    const timer = setTimeout(tooLate, timeoutMs);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  #holds(partition: number, condition: Condition): boolean {
    const ref = this.#progress.get(partition);
    return ref !== undefined && condition(ref);
  }
}

/**
 * A function that resolves when the view has applied everything that was in the log at its call. Calls share a
 * check of the end offsets that has not begun yet; checks begin at least 50 ms apart.
 */
export function createCatchUp(deps: {
  readonly log: EventLog;
  readonly partitions: number;
  readonly waiting: Waiting;
}): () => Promise<void> {
  const { log, partitions, waiting } = deps;
  let next: Promise<void> | null = null;
  let lastBegun = Number.NEGATIVE_INFINITY;

  const check = async (): Promise<void> => {
    const pause = lastBegun + checkEveryMs - performance.now();
    await (pause > 0 ? delay(pause) : Promise.resolve());
    // From here on the ends are being read: a later caller needs another check.
    next = null;
    lastBegun = performance.now();
    const numbers = Array.from({ length: partitions }, (_, partition) => partition);
    await Promise.all(
      numbers.map(async (partition) => {
        const end = await log.endOffset(controlTopic, partition);
        if (end <= (await log.startOffset(controlTopic, partition))) return;
        await waiting.until(
          partition,
          (partitionProgress) => partitionProgress.next >= end,
          catchUpTimeoutMs,
        );
      }),
    );
  };

  return () => {
    next ??= check();
    return next;
  };
}
