import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import type { Connection } from './state.ts';

type CredentialState = Pick<Connection, 'expiresAt' | 'credentialsAt' | 'refresh' | 'errors'>;

/**
 * Whether the credentials can be renewed only while they are valid, because the access token itself is refreshed
 * (docs/reference/auth-modes.md#long-lived-tokens).
 */
export const isRenewedWhileValid = (provider: Provider): boolean =>
  provider.access_token_refresh !== undefined;

/** Whether the provider would refuse a refresh, because the token is too young. */
export function isTooYoung(held: CredentialState, provider: Provider, now: Instant): boolean {
  const { expiresAt, credentialsAt } = held;
  const minAgeMs = (provider.access_token_refresh?.min_age_seconds ?? 0) * 1000;
  // One that was imported shortly before its end may be older than it looks.
  const livesLonger = expiresAt === null || expiresAt - credentialsAt > minAgeMs;
  return livesLonger && now - credentialsAt < minAgeMs;
}

/**
 * Whether the credentials expire soon and must be refreshed first: within the provider's buffer, by default 15 minutes,
 * but at most a quarter of their lifetime (docs/reference/limits.md#credentials), which is the default where they can be
 * renewed only while they are valid. Without an expiry they are fresh.
 */
export function isDue(held: CredentialState, provider: Provider, now: Instant): boolean {
  const { expiresAt, credentialsAt } = held;
  if (expiresAt === null) return false;
  const buffer = provider.token_expiration_buffer;
  const usual = isRenewedWhileValid(provider) ? Infinity : limits.refreshMarginMs;
  const wanted = buffer === undefined ? usual : buffer * 1000;
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
