import { limits } from '../../../kernel/limits.ts';
import type { Instant } from '../../../kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import type { Connection } from './state.ts';

type Held = Pick<Connection, 'expiresAt' | 'credentialsAt' | 'refresh' | 'errors'>;

/**
 * Whether the credentials end so soon that they are renewed first: the provider's buffer, else 15 minutes,
 * but never more than a quarter of their lifetime (docs/reference/limits.md#credentials). Without an end they are fresh.
 */
export function isDue(held: Held, provider: Provider, now: Instant): boolean {
  const { expiresAt, credentialsAt } = held;
  if (expiresAt === null) return false;
  const buffer = provider.token_expiration_buffer;
  const wanted = buffer === undefined ? limits.refreshMarginMs : buffer * 1000;
  const lifetime = Math.max(0, expiresAt - credentialsAt);
  return expiresAt - now < Math.min(wanted, lifetime / 4);
}

export const isExpired = ({ expiresAt }: Held, now: Instant): boolean =>
  expiresAt !== null && expiresAt <= now;

/** Within 30 seconds after a failure nothing is tried. */
export function isBackingOff({ refresh: { failedAt } }: Held, now: Instant): boolean {
  return failedAt !== null && now - failedAt < limits.refreshBackoffMs;
}

export const isExhausted = ({ refresh }: Held): boolean =>
  refresh.failureDays >= limits.refreshFailureDaysMax;
