import { expect, it } from 'vitest';
import type { CallBudget } from '#ports/coordination.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import type { CoordinationHarness } from './coordination.contract.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const budget: CallBudget = { calls: 20, windowMs: 500 };

/** A budget that all nodes share: never more calls in any span of its window. */
export function budgetsContract(harness: CoordinationHarness): void {
  it('gives all nodes together its calls, and says when to ask again', async () => {
    await using world = await harness.begin();
    const nodes = [await world.open(), await world.open()];
    const answers = await Promise.all(
      nodes.flatMap((node) => Array.from({ length: 30 }, async () => node.takeCall('a', budget))),
    );
    expect(answers.filter((ms) => ms === 0)).toHaveLength(budget.calls);
    for (const ms of answers) expect(ms).toBeLessThanOrEqual(1.04 * budget.windowMs);
    await world.wait(Math.max(...answers));
    expect(await nodes[0]!.takeCall('a', budget)).toBe(0);
  });

  it('gives no span of its window more than its calls, and goes on', async () => {
    await using world = await harness.begin();
    const nodes = [await world.open(), await world.open(), await world.open()];
    const taken: { readonly before: number; readonly after: number }[] = [];
    while (taken.length < 4 * budget.calls) {
      const before = world.now();
      const waitMs = await nodes[random.int(nodes.length)]!.takeCall('a', budget);
      if (waitMs === 0) taken.push({ before, after: world.now() });
      else await world.wait(1 + random.int(5));
    }
    for (const { before: from } of taken) {
      const to = from + budget.windowMs;
      const within = taken.filter(({ before, after }) => before >= from && after < to);
      expect(within.length).toBeLessThanOrEqual(budget.calls);
    }
  });

  it('gives none while it is paused; a shorter pause ends no longer one', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    expect(await here.takeCall('a', budget)).toBe(0);
    await here.pauseCalls('a', budget, 900);
    await there.pauseCalls('a', budget, 100);
    const paused = await there.takeCall('a', budget);
    expect(paused).toBeGreaterThan(100);
    expect(paused).toBeLessThanOrEqual(900);
    const use = await there.callsTaken('a', budget);
    expect(use.calls).toBe(1);
    expect(use.pausedMs).toBeGreaterThan(100);
    expect(await there.takeCall('b', budget)).toBe(0);
    await world.wait(paused);
    expect(await there.takeCall('a', budget)).toBe(0);
  });

  it('forgets what was taken before its window, and shows its use without taking', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    expect(await here.callsTaken('a', budget)).toEqual({ calls: 0, pausedMs: 0 });
    for (let calls = 0; calls < 3; calls++) await here.takeCall('a', budget);
    expect(await here.callsTaken('a', budget)).toEqual({ calls: 3, pausedMs: 0 });
    await world.wait(1.1 * budget.windowMs);
    expect(await here.callsTaken('a', budget)).toEqual({ calls: 0, pausedMs: 0 });
  });
}
