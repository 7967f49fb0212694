import { randomUUID } from 'node:crypto';
import type { Coordination, Lease } from '../../ports/coordination.ts';

interface Held {
  readonly token: string;
  readonly untilMs: number;
}
interface Kept {
  readonly value: string;
  readonly untilMs: number;
}
interface Window {
  value: number;
  readonly untilMs: number;
}

/** Number of entries above which expired ones are removed. */
const sweepAbove = 10_000;

/** Coordination within one process. Durations use the monotonic clock, so that clock jumps end no lease. */
export function openInProcessCoordination(monotonicMs = () => performance.now()): Coordination {
  const leases = new Map<string, Held>();
  const values = new Map<string, Kept>();
  const windows = new Map<string, Window>();
  const listeners = new Map<string, Set<(message: string) => void>>();

  return {
    async acquire(name, { ttlMs, token = randomUUID() }): Promise<Lease | null> {
      const held = alive(leases, name, monotonicMs());
      if (held !== undefined && held.token !== token) return null;
      put(leases, name, { token, untilMs: monotonicMs() + ttlMs }, monotonicMs());
      return { name, token };
    },
    async release(lease) {
      if (leases.get(lease.name)?.token === lease.token) leases.delete(lease.name);
    },
    count(name, { windowMs, by = 1 }) {
      const now = monotonicMs();
      const window = alive(windows, name, now) ?? { value: 0, untilMs: now + windowMs };
      window.value += by;
      put(windows, name, window, now);
      return { value: window.value, resetMs: Math.max(0, window.untilMs - now) };
    },
    async set(key, value, { ttlMs }) {
      put(values, key, { value, untilMs: monotonicMs() + ttlMs }, monotonicMs());
    },
    get: async (key) => alive(values, key, monotonicMs())?.value ?? null,
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

function alive<T extends { readonly untilMs: number }>(
  map: Map<string, T>,
  name: string,
  now: number,
) {
  const entry = map.get(name);
  if (entry === undefined || entry.untilMs > now) return entry;
  map.delete(name);
  return undefined;
}

function put<T extends { readonly untilMs: number }>(
  map: Map<string, T>,
  name: string,
  entry: T,
  now: number,
) {
  map.set(name, entry);
  if (map.size <= sweepAbove) return;
  for (const key of map.keys()) alive(map, key, now);
}
