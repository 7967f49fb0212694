import { expect, it } from 'vitest';
import { openRedisCoordination } from '#adapters/coordination/redis.ts';
import { startRedis } from '#test/services/redis.ts';
import { ask, fakeRuntime, scope } from './fakes.ts';

it('no function gets a lock while the nodes cannot reach one another, and its run still ends', async () => {
  await using redis = await startRedis();
  const options = { url: redis.url, prefix: 'p' };
  await using here = await openRedisCoordination(options);
  await using there = await openRedisCoordination(options);
  const first = fakeRuntime({ coordination: here });
  const second = fakeRuntime({ coordination: there, run: { ...scope, runId: 'run-2' } });
  const lock = async (calls: typeof first.calls) =>
    (await ask(calls, 'tryAcquireLock', { key: 'a', ttlMs: 600_000 })).value;
  expect([await lock(first.calls), await lock(second.calls)]).toEqual([true, false]);
  await redis.kill();
  for (const { calls } of [first, second]) {
    await expect(lock(calls)).rejects.toMatchObject({ code: 'coordination_unavailable' });
  }
  await redis.restart();
  await expect.poll(() => lock(second.calls).catch(String)).toBe(false);
  await redis.kill();
  await first.host[Symbol.asyncDispose]();
});
