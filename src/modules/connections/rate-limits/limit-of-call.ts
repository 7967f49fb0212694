import { joinKey } from '#kernel/ids.ts';
import type { CallBudget } from '#ports/coordination.ts';
import type { RateLimit, RateLimitSetting } from '../integrations/integration.ts';
import type { Provider } from '../providers/definition.ts';

/** The limit of a call, with the name of the budget that it takes from. */
export interface SharedLimit {
  readonly limit: RateLimit;
  readonly name: string;
  readonly budget: CallBudget;
}

interface LimitedConnection {
  readonly environmentUid: string;
  readonly integrationKey: string;
  /** Absent: of the integration as a whole. */
  readonly connectionId?: string;
}

/** Null without a limit. @param setting absent: `provider` */
export function rateLimitOf(
  setting: RateLimitSetting | undefined,
  provider: Provider | null,
): RateLimit | null {
  if (setting === 'none') return null;
  if (setting !== undefined && setting !== 'provider') return setting;
  return provider?.proxy?.rate_limit ?? null;
}

/** Null without a limit. */
export function sharedLimitOf(
  limit: RateLimit | null,
  { environmentUid, integrationKey, connectionId }: LimitedConnection,
): SharedLimit | null {
  if (limit === null) return null;
  const budget = { calls: limit.requests, windowMs: limit.seconds * 1000 };
  const parts = limit.per === 'connection' && connectionId !== undefined ? [connectionId] : [];
  return { limit, name: joinKey(environmentUid, integrationKey, ...parts), budget };
}
