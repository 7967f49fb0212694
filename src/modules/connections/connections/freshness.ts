import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import type { Connection } from './state.ts';

type CredentialState = Pick<Connection, 'expiresAt' | 'credentialsAt' | 'refresh' | 'errors'>;

/**
 * Whether the credentials expire soon and must be refreshed first: within the provider's buffer, by default 15 minutes,
 * but at most a quarter of their lifetime (docs/reference/limits.md#credentials). Without an expiry they are fresh.
 */
export function isDue(held: CredentialState, provider: Provider, now: Instant): boolean {
  const { expiresAt, credentialsAt } = held;
  if (expiresAt === null) return false;
  const buffer = provider.token_expiration_buffer;
  const wanted = buffer === undefined ? limits.refreshMarginMs : buffer * 1000;
  const lifetime = Math.max(0, expiresAt - credentialsAt);
  return expiresAt - now < Math.min(wanted, lifetime / 4);
}

export const isExpired = ({ expiresAt }: CredentialState, now: Instant): boolean =>
  expiresAt !== null && expiresAt <= now;

/** No refresh within 30 seconds after a failure. */
export function isBackingOff({ refresh: { failedAt } }: CredentialState, now: Instant): boolean {
  return failedAt !== null && now - failedAt < limits.refreshBackoffMs;
}

export const isExhausted = ({ refresh }: CredentialState): boolean =>
  refresh.failureDays >= limits.refreshFailureDaysMax;
