import { randomUUID } from 'node:crypto';
import type { CallBudget, Coordination, Lease } from '#ports/coordination.ts';
import { CallWindow, rememberedMs } from './call-window.ts';

interface Expiry {
  readonly untilMs: number;
}
interface HeldLock extends Expiry {
  readonly token: string;
}
interface StoredValue extends Expiry {
  readonly value: string;
}
interface Window extends Expiry {
  value: number;
}

interface Budget extends Expiry {
  readonly window: CallWindow;
}

/** Number of entries above which expired ones are removed. */
const sweepAbove = 10_000;

/** Coordination within one process. Durations use the monotonic clock, so that clock jumps end no lease. */
export function openInProcessCoordination(monotonicMs = () => performance.now()): Coordination {
  const leases = new ExpiringMap<HeldLock>(monotonicMs);
  const values = new ExpiringMap<StoredValue>(monotonicMs);
  const windows = new ExpiringMap<Window>(monotonicMs);
  const budgets = new ExpiringMap<Budget>(monotonicMs);
  const listeners = new Map<string, Set<(message: string) => void>>();

  /** Kept for what it remembers, or for `ms`. */
  function windowOf(name: string, budget: CallBudget, ms = 0): CallWindow {
    const existing = budgets.get(name);
    const { window } = existing ?? { window: new CallWindow() };
    const keptMs = monotonicMs() + Math.max(rememberedMs(budget), ms);
    budgets.set(name, { window, untilMs: Math.max(existing?.untilMs ?? 0, keptMs) });
    return window;
  }

  return {
    async acquire(name, { ttlMs, token = randomUUID() }): Promise<Lease | null> {
      const held = leases.get(name);
      if (held !== undefined && held.token !== token) return null;
      leases.set(name, { token, untilMs: monotonicMs() + ttlMs });
      return { name, token };
    },
    async release(lease) {
      if (leases.get(lease.name)?.token === lease.token) leases.delete(lease.name);
    },
    count(name, { windowMs, by = 1 }) {
      const now = monotonicMs();
      const window = windows.get(name) ?? { value: 0, untilMs: now + windowMs };
      window.value += by;
      windows.set(name, window);
      return { value: window.value, resetMs: Math.max(0, window.untilMs - now) };
    },
    takeCall: (name, budget) => windowOf(name, budget).take(budget, monotonicMs()),
    async pauseCalls(name, budget, ms) {
      windowOf(name, budget, ms).pause(monotonicMs() + ms);
    },
    callsTaken: async (name, budget) => windowOf(name, budget).use(budget, monotonicMs()),
    async set(key, value, { ttlMs }) {
      values.set(key, { value, untilMs: monotonicMs() + ttlMs });
    },
    get: async (key) => values.get(key)?.value ?? null,
    async delete(key) {
      values.delete(key);
    },
    async publish(channel, message) {
      for (const listener of listeners.get(channel) ?? []) listener(message);
    },
    async subscribe(channel, listener) {
      const set = listeners.get(channel) ?? new Set();
      listeners.set(channel, set.add(listener));
      return { [Symbol.asyncDispose]: async () => void set.delete(listener) };
    },
    async [Symbol.asyncDispose]() {
      listeners.clear();
    },
  };
}

/** Entries until their time. A write costs the same with any number of them, taken over many writes. */
class ExpiringMap<T extends Expiry> {
  readonly #entries = new Map<string, T>();
  readonly #monotonicMs: () => number;
  #sweepAbove = sweepAbove;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get(name: string): T | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined || entry.untilMs > this.#monotonicMs()) return entry;
    this.#entries.delete(name);
    return undefined;
  }

  set(name: string, entry: T): void {
    this.#entries.set(name, entry);
    if (this.#entries.size > this.#sweepAbove) this.#sweep();
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }

  #sweep(): void {
    const now = this.#monotonicMs();
    for (const [name, { untilMs }] of this.#entries) if (untilMs <= now) this.#entries.delete(name);
    this.#sweepAbove = Math.max(sweepAbove, 2 * this.#entries.size);
  }
}
