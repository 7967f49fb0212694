import type { Logger } from 'pino';
import { openInProcessCoordination } from '../adapters/coordination/in-process.ts';
import { openRedisCoordination } from '../adapters/coordination/redis.ts';
import type { Coordination } from '../ports/coordination.ts';
import type { Config } from './config.ts';

/** How another thread reaches Coordination; null = it is within the main thread of the only process. */
export type CoordinationAccess = { readonly url: string; readonly prefix: string } | null;

export const coordinationAccess = ({ redisUrl, topicPrefix }: Config): CoordinationAccess =>
  redisUrl.kind === 'embedded' ? null : { url: redisUrl.url, prefix: topicPrefix };

/** Opens what SVC_REDIS_URL names. */
export async function openCoordination(
  stack: AsyncDisposableStack,
  access: CoordinationAccess,
  logger: Logger,
): Promise<Coordination> {
  if (access === null) return stack.use(openInProcessCoordination());
  return stack.use(await openRedisCoordination({ ...access, logger }));
}
