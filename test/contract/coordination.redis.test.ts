import { Redis } from 'ioredis';
import { openRedisCoordination } from '../../src/adapters/coordination/redis.ts';
import { ownPrefix, serviceUrl } from '../services/url.ts';
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
      [Symbol.asyncDispose]: () => opened.disposeAsync(),
    };
  },
});

/** Time passes for the keys of the prefix alone: each has so much less left. */
async function takeFromEachKey(client: Redis, prefix: string, ms: number): Promise<void> {
  for (const key of await client.keys(`${prefix}:*`)) {
    const left = (await client.pttl(key)) - ms;
    await (left > 0 ? client.pexpire(key, left) : client.del(key));
  }
}
