import { limits } from '#kernel/limits.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import type { ConnectionError, ConnectionEvent } from './events.ts';
import { unusedRefreshAt, validationDueAt, type Connection } from './state.ts';

/** Error code of credentials that a function refused, not the provider. */
export const validationFailed = 'connection_validation_failed';

export const refusedByFunction = (logId: string, at: Instant): ConnectionEvent => ({
  type: 'CredentialsRefused',
  error: { type: 'auth', log_id: logId },
  errorCode: validationFailed,
  providerStatus: null,
  at,
});

export interface MarkError {
  readonly type: 'MarkError';
  readonly error: ConnectionError;
  readonly errorCode?: string;
  readonly providerStatus?: number;
  readonly at: Instant;
}

/** Credentials that never expire were tried on the provider. */
export interface CredentialsTested {
  readonly type: 'Tested';
  readonly uid: string;
  /** Version of the checked credentials; outcomes of others are ignored. */
  readonly ifVersion: number;
  /** Null: the provider accepted them. */
  readonly refusal: { readonly logId: string; readonly providerStatus: number } | null;
  readonly at: Instant;
}

export function tested(command: CredentialsTested, state: Connection): ConnectionEvent[] {
  const { ifVersion, refusal, at } = command;
  if (state.credentialsVersion !== ifVersion) return [];
  if (refusal === null) return cleared('auth', state, at);
  const error = { type: 'auth', log_id: refusal.logId } as const;
  const { providerStatus } = refusal;
  const errorCode = 'connection_test_failed';
  return [{ type: 'CredentialsRefused', error, errorCode, providerStatus, at }];
}

export function markedError(command: MarkError, state: Connection): ConnectionEvent[] {
  const { error, errorCode = null, providerStatus = null, at } = command;
  if (state.errors.some(({ type, log_id }) => type === error.type && log_id === error.log_id)) {
    return [];
  }
  if (error.type === 'sync') return [{ type: 'SyncFailed', error, at }];
  return [{ type: 'CredentialsRefused', error, errorCode, providerStatus, at }];
}

export function cleared(
  errorType: ConnectionError['type'],
  state: Connection,
  at: Instant,
): ConnectionEvent[] {
  const isMarked = state.errors.some(({ type }) => type === errorType);
  return isMarked ? [{ type: 'ErrorCleared', errorType, at }] : [];
}

/** Applies timeouts: an unfinished validation counts as failed. */
export function afterTime(state: Connection, at: Instant): ConnectionEvent[] {
  const { validating, uid } = state;
  if (validating != null && (validationDueAt(state) ?? Infinity) <= at) {
    if (validating.isNew) return [{ type: 'ConnectionDeletionBegun', at }];
    return [refusedByFunction(uid, at)];
  }
  return isRefreshDue(state, at) ? [{ type: 'RefreshDue', at }] : [];
}

const isRefreshDue = (state: Connection, at: Instant): boolean =>
  (unusedRefreshAt(state) ?? Infinity) <= at;

/** Statuses of a provider that is away or over its limit, whatever the body says. */
export const isOutageStatus = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;

export const postponed = (refresh: Connection['refresh'], at: Instant): Connection['refresh'] => ({
  ...refresh,
  intent: null,
  failedAt: at,
  failingSince: refresh.failingSince ?? at,
});

/**
 * A provider that answers 4xx without a known code may refuse in words of its own: after a day without valid
 * credentials that is a refusal. An outage (no answer, 408, 429, 5xx) never is.
 */
export function isRefusedForLong(
  { providerStatus, at }: { readonly providerStatus: number | null; readonly at: Instant },
  { refresh: { failingSince }, expiresAt }: Connection,
): boolean {
  const isOutage = providerStatus === null || isOutageStatus(providerStatus);
  if (isOutage || providerStatus < 400 || failingSince == null) return false;
  const isExpired = expiresAt === null || expiresAt <= at;
  return isExpired && at - failingSince >= limits.refreshRefusedForMs;
}

/** Counted at most once a day (UTC): the number of days exhausts a connection. */
export function failedOnce(refresh: Connection['refresh'], at: Instant): Connection['refresh'] {
  const { failedAt, failureDays } = refresh;
  const isCounted =
    failureDays > 0 && failedAt !== null && Math.floor(failedAt / dayMs) === Math.floor(at / dayMs);
  return {
    ...refresh,
    intent: null,
    failedAt: at,
    failingSince: null,
    failureDays: isCounted ? failureDays : failureDays + 1,
  };
}

export const isSame = (a: Connection, b: Connection): boolean =>
  stableJson(a as unknown as Json) === stableJson(b as unknown as Json);
