/** Starts Redis, prints its address, and waits to be killed. */
import { startRedis } from './redis.ts';

const { url, folder } = await startRedis();
console.log(JSON.stringify({ url, folder }));
