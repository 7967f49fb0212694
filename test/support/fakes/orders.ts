import type { OperatorRequests } from '#streams/reactor/reactor.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';

export interface GivenOrders extends OperatorRequests {
  /** Asks for a move of the position of partition 0. */
  reset(move: Partial<PartitionReset> & Pick<PartitionReset, 'to'>): void;
  /** The moves that were made, in order. */
  readonly moves: readonly number[];
}

/** Orders that a test gives by itself, without a control plane. Nothing may be parked unless `park` says how. */
export function givenOrders(park?: OperatorRequests['park']): GivenOrders {
  const listeners = new Set<() => void>();
  const moves: number[] = [];
  let last: PartitionReset | null = null;
  let resets = 0;
  return {
    moves,
    park: park ?? (() => Promise.reject(new Error('nothing is to be parked'))),
    current: () => Promise.resolve(),
    pendingReset: () => (last?.appliedAt === null ? last : null),
    async applied(_partition, reset) {
      moves.push(reset.to);
      if (last?.id === reset.id) last = { ...last, appliedAt: 1 };
    },
    replayAt: (_partition, offset) =>
      last !== null && offset < last.until ? { until: last.until, isRepeat: last.isRepeat } : null,
    nextRetry: () => null,
    retryMessage: () => Promise.resolve(null),
    retried: () => Promise.resolve(),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    reset(move) {
      const id = String((resets += 1));
      const rest = { id, from: 0, until: 0, isRepeat: false, by: 'system', at: 0, appliedAt: null };
      last = { ...rest, ...move };
      for (const listener of listeners) listener();
    },
  };
}
