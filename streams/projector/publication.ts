interface Waiter {
  readonly offset: number;
  readonly resolve: () => void;
}

/** Up to which offset of each partition changes are readable, with the waits for it. */
export interface Publication {
  /** The next offset whose changes are not readable yet. */
  next(partition: number): number;
  advance(partition: number, next: number): void;
  /** Resolves when everything before the offset is readable; rejects with the reason of the abort. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
  /** Whether a caller waits for an offset that `next` reaches. */
  isAwaited(partition: number, next: number): boolean;
}

export function createPublication(): Publication {
  const nexts = new Map<number, number>();
  const waiters = new Map<number, Set<Waiter>>();
  const nextOf = (partition: number): number => nexts.get(partition) ?? 0;

  return {
    next: nextOf,
    advance(partition, next) {
      nexts.set(partition, next);
      const waiting = waiters.get(partition) ?? [];
      for (const waiter of waiting) if (waiter.offset <= next) waiter.resolve();
    },
    async published(partition, offset, signal) {
      signal.throwIfAborted();
      if (nextOf(partition) >= offset) return;
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      const waiter: Waiter = { offset, resolve: () => resolve(undefined) };
      const abort = (): void => reject(signal.reason as Error);
      const waiting = waiters.get(partition) ?? new Set();
      waiters.set(partition, waiting.add(waiter));
      signal.addEventListener('abort', abort, { once: true });
      try {
        await promise;
      } finally {
        waiting.delete(waiter);
        signal.removeEventListener('abort', abort);
      }
    },
    isAwaited: (partition, next) =>
      [...(waiters.get(partition) ?? [])].some(({ offset }) => offset <= next),
  };
}
