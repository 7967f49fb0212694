import { setTimeout as wait } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it, vi } from 'vitest';
import { trimWhenQuiet } from '#adapters/threads/trim-memory.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Until what only this reference holds is collected. Looking at it keeps it for the rest of that job. */
async function collected(garbage: WeakRef<object>): Promise<void> {
  while (garbage.deref() !== undefined) await wait(50);
}

/** Allocates until V8 has collected the young generation by itself. */
function rush(): void {
  const kept: object[] = [];
  for (let at = 0; at < 2_000_000; at++) kept[at % 1000] = { at };
}

it('returns memory after a rush, again after the next one, and leaves no flag of V8 on', async () => {
  using _ = trimWhenQuiet({ quietMs: 20 });
  await collected(new WeakRef({}));
  rush();
  await collected(new WeakRef({}));
  expect(runInNewContext('typeof gc')).toBe('undefined');
});

it('frees what the thread keeps outside of the heap', async () => {
  const { promise: freed, resolve } = Promise.withResolvers<undefined>();
  using _ = trimWhenQuiet({ quietMs: 20, free: () => resolve(undefined) });
  await freed;
});

it('leaves memory alone after it was closed', () => {
  vi.useFakeTimers();
  const trimming = trimWhenQuiet();
  expect(vi.getTimerCount()).toBe(1);
  trimming[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});
