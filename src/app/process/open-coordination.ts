import type { Logger } from 'pino';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Config } from '../config/config.ts';

/** How another thread reaches Coordination; null = it is inside the main thread of the only process. */
export type CoordinationAccess = { readonly url: string; readonly prefix: string } | null;

export const coordinationAccess = ({ redisUrl, topicPrefix }: Config): CoordinationAccess =>
  redisUrl.kind === 'embedded' ? null : { url: redisUrl.url, prefix: topicPrefix };

/** Opens Coordination as SVC_REDIS_URL says; the Redis client is loaded only if it is set. */
export async function openCoordination(
  stack: AsyncDisposableStack,
  access: CoordinationAccess,
  logger: Logger,
): Promise<Coordination> {
  if (access === null) return stack.use(openInProcessCoordination());
  const { openRedisCoordination } = await import('#adapters/coordination/redis.ts');
  return stack.use(await openRedisCoordination({ ...access, logger }));
}
