/** Takes a lease at the Redis of the argument and prints it: trusted certificates are set at the start. */
import { openRedisCoordination } from '#adapters/coordination/redis.ts';

const [url = ''] = process.argv.slice(2);
await using coordination = await openRedisCoordination({ url, prefix: 'p' });
console.log(JSON.stringify(await coordination.acquire('a', { ttlMs: 60_000, token: 't' })));
