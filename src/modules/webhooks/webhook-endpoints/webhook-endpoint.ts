import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { present } from '#kernel/present.ts';
import type { Instant } from '#kernel/time.ts';
import type { WebhookKind } from '../webhooks-out/events.ts';
import type { ContentFilter } from './filter.ts';

/** The failures of an endpoint since its last success. */
export interface FailureStreak {
  readonly since: Instant;
  /** Attempts that are known to have failed. */
  readonly failures: number;
  /** Time that counts as failed, ms. */
  readonly failedMs: number;
  readonly notedAt: Instant;
}

/** Scope = environment uid; path [environment uid, id]. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly environmentUid: string;
  readonly displayName: string;
  /** Sealed under the environment's key: addresses may contain secrets. */
  readonly url: Sealed<string>;
  /** Null = every kind. */
  readonly kinds: readonly WebhookKind[] | null;
  /** Null = of every integration. */
  readonly integrationKey: string | null;
  /** Null = of every connection; otherwise `integrationKey` is set. */
  readonly connectionId: string | null;
  readonly isEnabled: boolean;
  /** Headers of its deliveries, sealed with the names (`sealHeaders`); null or absent: none. */
  readonly headers?: Sealed<string> | null;
  readonly headerNames?: readonly string[];
  /** The OAuth client that gets tokens for its deliveries, sealed (`authentication.ts`); null or absent: none. */
  readonly oauth?: Sealed<string> | null;
  /** Of the service, for mutual TLS, sealed with its key; null or absent: none. */
  readonly clientCertificate?: Sealed<string> | null;
  /** Waits before the second, third, … attempt; null or absent: the schedule of the environment. */
  readonly retryWaitsMs?: readonly number[] | null;
  /** Null or absent: it gets webhooks with any content. */
  readonly filter?: ContentFilter | null;
  /** Whether each delivery of a connection waits until the one before is finished; absent: no. */
  readonly isOrdered?: boolean;
  /** After how long of failures it is disabled; null: never, absent: `limits.webhookDisableAfterMs`. */
  readonly disableAfterMs?: number | null;
  /** Absent or null: its last delivery succeeded, or none was sent. */
  readonly failing?: FailureStreak | null;
  /** When failures disabled it; absent or null: it is enabled, or a person disabled it. */
  readonly disabledAt?: Instant | null;
  /** Sealed (`signing-keys.ts`); absent: the key of the environment signs. */
  readonly signingKey?: Sealed<string>;
  /** Signs beside it until the time; a null key is that of the environment. */
  readonly previousSigningKey?: {
    readonly key: Sealed<string> | null;
    readonly until: Instant;
  };
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The fields that a caller can set. */
export type EndpointSettings = Pick<
  WebhookEndpoint,
  | 'displayName'
  | 'url'
  | 'kinds'
  | 'integrationKey'
  | 'connectionId'
  | 'isEnabled'
  | 'headers'
  | 'headerNames'
  | 'oauth'
  | 'clientCertificate'
  | 'retryWaitsMs'
  | 'disableAfterMs'
  | 'filter'
  | 'isOrdered'
>;

export type WebhookEndpointEvent =
  | { readonly type: 'WebhookEndpointCreated'; readonly endpoint: WebhookEndpoint }
  | {
      readonly type: 'WebhookEndpointChanged';
      readonly changes: Partial<EndpointSettings>;
      readonly at: Instant;
    }
  | { readonly type: 'WebhookEndpointFailed'; readonly failing: FailureStreak }
  | {
      readonly type: 'WebhookEndpointDisabled';
      readonly failing: FailureStreak;
      readonly at: Instant;
    }
  | { readonly type: 'WebhookEndpointRecovered' }
  | {
      readonly type: 'WebhookEndpointKeyRotated';
      readonly key: Sealed<string>;
      /** Until when the one before signs too. */
      readonly previousUntil: Instant;
      readonly at: Instant;
    }
  | { readonly type: 'WebhookEndpointDeleted' };

/** Facts that the owner adds: `at`, and the number of endpoints of the environment. */
export type CreateWebhookEndpoint = {
  readonly type: 'Create';
  readonly id: string;
  readonly environmentUid: string;
  readonly at: Instant;
  readonly siblings: number;
} & EndpointSettings;

interface RotateEndpointKey {
  readonly type: 'RotateKey';
  readonly key: Sealed<string>;
  readonly overlapMs: number;
  readonly at: Instant;
}

/** Attempts that failed since the last note of the process, without a success between them. */
interface NoteFailures {
  readonly type: 'NoteFailures';
  readonly count: number;
  readonly at: Instant;
}

export type WebhookEndpointCommand =
  | CreateWebhookEndpoint
  | NoteFailures
  | { readonly type: 'NoteSuccess'; readonly at: Instant }
  | RotateEndpointKey
  | { readonly type: 'Patch'; readonly changes: Partial<EndpointSettings>; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const webhookEndpoint: Decider<
  WebhookEndpoint | null,
  WebhookEndpointCommand,
  WebhookEndpointEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') return created(command, state);
    if (state === null) {
      throw new GatewayError('not_found', { message: 'The webhook endpoint does not exist.' });
    }
    switch (command.type) {
      case 'Delete':
        return [{ type: 'WebhookEndpointDeleted' }];
      case 'RotateKey':
        return rotated(command, state);
      case 'NoteFailures':
        return failed(command, state);
      case 'NoteSuccess':
        return state.failing == null ? [] : [{ type: 'WebhookEndpointRecovered' }];
      case 'Patch':
        refuseHalfFilter({ ...state, ...command.changes });
        refuseTwoAuthorizations({ ...state, ...command.changes });
        return [{ type: 'WebhookEndpointChanged', changes: command.changes, at: command.at }];
    }
  },

  evolve(state, event) {
    if (event.type === 'WebhookEndpointCreated') return event.endpoint;
    if (state === null) return null;
    switch (event.type) {
      case 'WebhookEndpointDeleted':
        return null;
      case 'WebhookEndpointChanged':
        return { ...state, ...freshOf(event.changes), ...event.changes, updatedAt: event.at };
      case 'WebhookEndpointFailed':
        return { ...state, failing: event.failing };
      case 'WebhookEndpointDisabled': {
        const { failing, at } = event;
        return { ...state, isEnabled: false, disabledAt: at, failing, updatedAt: at };
      }
      case 'WebhookEndpointRecovered':
        return { ...state, failing: null };
      case 'WebhookEndpointKeyRotated': {
        const previousSigningKey = { key: state.signingKey ?? null, until: event.previousUntil };
        return { ...state, signingKey: event.key, previousSigningKey, updatedAt: event.at };
      }
    }
  },
};

/** Another address, and a decision of a person, begin without failures. */
const freshOf = ({
  url,
  isEnabled,
}: Partial<EndpointSettings>): Pick<WebhookEndpoint, 'failing' | 'disabledAt'> => ({
  ...(url === undefined && isEnabled === undefined ? {} : { failing: null }),
  ...(isEnabled === undefined ? {} : { disabledAt: null }),
});

/** Gaps that the time until an endpoint is disabled has at least. */
const gapsMin = 5;

/**
 * Counts failures and their time. A clock that jumps, or a week without webhooks, is one gap between two notes: none counts for
 * more than a fifth of the time after which the endpoint is disabled, and none backward.
 */
function failed({ count, at }: NoteFailures, state: WebhookEndpoint): WebhookEndpointEvent[] {
  if (!state.isEnabled) return [];
  const disableAfterMs = disableAfterMsOf(state);
  const before = state.failing ?? { since: at, failures: 0, failedMs: 0, notedAt: at };
  const gapMaxMs = (disableAfterMs ?? limits.webhookDisableAfterMs) / gapsMin;
  const gapMs = Math.min(Math.max(0, at - before.notedAt), gapMaxMs);
  const failing: FailureStreak = {
    since: before.since,
    failures: before.failures + count,
    failedMs: before.failedMs + gapMs,
    notedAt: at,
  };
  const isOver =
    disableAfterMs !== null &&
    failing.failedMs >= disableAfterMs &&
    failing.failures >= limits.webhookDisableFailuresMin;
  return [
    isOver
      ? { type: 'WebhookEndpointDisabled', failing, at }
      : { type: 'WebhookEndpointFailed', failing },
  ];
}

export const disableAfterMsOf = ({
  disableAfterMs = limits.webhookDisableAfterMs,
}: Pick<WebhookEndpoint, 'disableAfterMs'>): number | null => disableAfterMs;

function created(
  command: CreateWebhookEndpoint,
  state: WebhookEndpoint | null,
): WebhookEndpointEvent[] {
  if (state !== null) throw new GatewayError('conflict');
  if (command.siblings >= limits.webhookEndpointsMax) {
    const message = `An environment has at most ${limits.webhookEndpointsMax} webhook endpoints.`;
    throw new GatewayError('resource_capped', { message });
  }
  refuseHalfFilter(command);
  refuseTwoAuthorizations(command);
  const { id, environmentUid, displayName, url, kinds, integrationKey, connectionId, isEnabled } =
    command;
  const { headers = null, headerNames = [], retryWaitsMs = null, disableAfterMs } = command;
  const { filter = null, isOrdered = false, oauth = null, clientCertificate = null } = command;
  const settings = { displayName, url, kinds, integrationKey, connectionId, isEnabled };
  const sending = {
    headers,
    headerNames,
    oauth,
    clientCertificate,
    retryWaitsMs,
    filter,
    isOrdered,
    ...present({ disableAfterMs }),
  };
  const times = { createdAt: command.at, updatedAt: command.at };
  const endpoint: WebhookEndpoint = { id, environmentUid, ...settings, ...sending, ...times };
  return [{ type: 'WebhookEndpointCreated', endpoint }];
}

/** The key before it, while it signs too. */
export function previousSigningKey(
  { previousSigningKey: previous }: Pick<WebhookEndpoint, 'previousSigningKey'>,
  now: Instant,
): WebhookEndpoint['previousSigningKey'] | null {
  return previous !== undefined && now < previous.until ? previous : null;
}

/** Two keys sign at a time: a third would end one that a receiver may still use. Without an overlap both end at once. */
function rotated(
  { key, overlapMs, at }: RotateEndpointKey,
  state: WebhookEndpoint,
): WebhookEndpointEvent[] {
  if (overlapMs > 0 && previousSigningKey(state, at) !== null) {
    throw new GatewayError('multiple_webhook_signing_keys');
  }
  return [{ type: 'WebhookEndpointKeyRotated', key, previousUntil: at + overlapMs, at }];
}

/** Connection ids are unique within one integration only. */
function refuseHalfFilter({
  integrationKey,
  connectionId,
}: Pick<WebhookEndpoint, 'integrationKey' | 'connectionId'>): void {
  if (connectionId === null || integrationKey !== null) return;
  const message = 'An endpoint for one connection requires provider_config_key.';
  const path = ['provider_config_key'];
  throw new GatewayError('invalid_body', { message, errors: [{ code: 'custom', message, path }] });
}

/** Both would be the header `authorization`. */
function refuseTwoAuthorizations({
  headerNames = [],
  oauth = null,
}: Pick<WebhookEndpoint, 'headerNames' | 'oauth'>): void {
  if (oauth === null || !headerNames.includes('authorization')) return;
  const message = 'An endpoint with oauth has no header authorization of its own.';
  throw new GatewayError('invalid_body', {
    message,
    errors: [{ code: 'custom', message, path: ['oauth'] }],
  });
}
