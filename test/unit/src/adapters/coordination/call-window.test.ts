import { describe, expect, it } from 'vitest';
import { CallWindow } from '#adapters/coordination/call-window.ts';

describe('a window of calls', () => {
  it.each([
    { calls: 100, windowMs: 60_000 },
    { calls: 3, windowMs: 1_000 },
    { calls: 1, windowMs: 10_000 },
    { calls: 100_000, windowMs: 86_400_000 },
  ])('gives a caller who never rests 95 %% of $calls calls per $windowMs ms', (budget) => {
    const window = new CallWindow();
    const windows = 20;
    let now = 1_000_003;
    const end = now + windows * budget.windowMs;
    let taken = 0;
    while (now < end) {
      const waitMs = window.take(budget, now);
      if (waitMs === 0) taken += 1;
      else now += waitMs;
    }
    // The first window is full at once.
    expect(taken / (budget.calls * windows)).toBeGreaterThanOrEqual(0.95);
  });

  it('begins again with another width of its parts', () => {
    const window = new CallWindow();
    expect(window.take({ calls: 1, windowMs: 60_000 }, 120_000)).toBe(0);
    expect(window.take({ calls: 1, windowMs: 60_000 }, 120_000)).toBeGreaterThan(0);
    expect(window.take({ calls: 1, windowMs: 600_000 }, 120_000)).toBe(0);
    expect(window.take({ calls: 1, windowMs: 1_000 }, 120_000)).toBe(0);
  });
});
