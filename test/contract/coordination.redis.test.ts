import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { openRedisCoordination } from '#adapters/coordination/redis.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { coordinationContract } from './coordination.contract.ts';

coordinationContract('Redis', {
  async begin() {
    await using stack = new AsyncDisposableStack();
    const [url, prefix] = [serviceUrl('redis'), ownPrefix()];
    const client = stack.adopt(new Redis(url), (one) => one.disconnect());
    const opened = stack.move();
    return {
      open: async () => opened.use(await openRedisCoordination({ url, prefix })),
      pass: (ms) => takeFromEachKey(client, prefix, ms),
      now: () => performance.now(),
      wait: (ms) => pause(ms),
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  },
});

it('a message that a listener cannot take ends neither the process nor the channel', async () => {
  const [url, prefix] = [serviceUrl('redis'), ownPrefix()];
  await using coordination = await openRedisCoordination({ url, prefix });
  const heard: unknown[] = [];
  for (let listeners = 0; listeners < 2; listeners++) {
    await coordination.subscribe('channel', (message) => void heard.push(JSON.parse(message)));
  }
  for (const message of ['{', '1']) await coordination.publish('channel', message);
  await expect.poll(() => heard).toEqual([1, 1]);
});

/** Time passes for the keys of the prefix alone: each has so much less left. */
async function takeFromEachKey(client: Redis, prefix: string, ms: number): Promise<void> {
  for (const key of await client.keys(`${prefix}:*`)) {
    const left = (await client.pttl(key)) - ms;
    await (left > 0 ? client.pexpire(key, left) : client.del(key));
  }
}
