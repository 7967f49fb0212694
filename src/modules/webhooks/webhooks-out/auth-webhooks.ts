import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Publisher } from '#control-plane/publisher.ts';
import type { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { dayMs } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { openUrl, urlOfConnection, urlOfSession } from '#modules/access/vault/webhook-urls.ts';
import type {
  AuthorizationOutcomes,
  FailedAuthorization,
} from '#modules/connections/authorizations/outcomes.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { Connection, EndUser } from '#modules/connections/connections/state.ts';
import { ProviderAuthError } from '#modules/connections/credentials/modes/provider-auth-error.ts';
import type { ProviderError } from '#modules/connections/credentials/modes/provider-error.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
import type { CredentialsChanged } from '#streams/values.ts';
import { deliveriesOf } from './outbox.ts';
import { startWebhookSource, subjectOf, type WebhookSourceDeps } from './webhook-source.ts';

/** A change of the credentials of a connection, as published to the application. */
export interface AuthEvent {
  /** `creation`: a new connection; `override`: authorized again; `refresh`: failed (or a test failed), or recovered. */
  readonly operation: 'creation' | 'override' | 'refresh';
  /** Null = success. Contains no secrets. */
  readonly error: {
    readonly type: string;
    readonly description: string;
    /** The error that the provider returned in the callback or to the token call. */
    readonly provider?: ProviderError;
  } | null;
}

type Change = Pick<
  CredentialsChanged,
  'action' | 'auth_mode' | 'attempt' | 'error_code' | 'provider_status' | 'recovers'
>;

/** Null for events that are not sent to the application: a successful refresh, and the deletion of a connection. */
export function authEventOf(change: Change): AuthEvent | null {
  switch (change.action) {
    case 'stored':
      // The first set of credentials of a connection is that of its creation.
      return { operation: change.attempt === 1 ? 'creation' : 'override', error: null };
    case 'refreshed':
    case 'tested':
      return change.recovers ? { operation: 'refresh', error: null } : null;
    case 'refresh_failed':
      if (change.error_code === validationFailed) return { operation: 'override', error: refused };
      return { operation: 'refresh', error: refreshError(change) };
    default:
      return null;
  }
}

const validationFailed = 'connection_validation_failed';
const refused = {
  type: validationFailed,
  description: 'A validation function refused the new credentials.',
} as const;

const testFailed = 'connection_test_failed';
const refreshFailed = 'refresh_token_external_error';
/** Names of docs/reference/webhooks-out.md#auth. */
const errorTypes: Readonly<Record<AuthMode, string>> = {
  OAUTH1: refreshFailed,
  OAUTH2: refreshFailed,
  MCP_OAUTH2: refreshFailed,
  OAUTH2_CC: 'client_credentials_fetch_error',
  TWO_STEP: 'two_step_credentials_fetch_error',
  API_KEY: testFailed,
  BASIC: testFailed,
  TBA: testFailed,
  AWS_SIGV4: refreshFailed,
  APP: refreshFailed,
  APP_STORE: refreshFailed,
  BILL: refreshFailed,
  CUSTOM: refreshFailed,
  JWT: refreshFailed,
  NONE: refreshFailed,
  SIGNATURE: refreshFailed,
};

function refreshError(change: Change): NonNullable<AuthEvent['error']> {
  const { auth_mode: mode, error_code: code, provider_status: status } = change;
  const isTest = code === testFailed;
  const codes = [status === null ? [] : [String(status)], code === null || isTest ? [] : [code]];
  const why = codes.flat().length === 0 ? '' : ` (${codes.flat().join(': ')})`;
  const what = isTest
    ? 'The provider refused the credentials'
    : 'The credentials could not be refreshed';
  return {
    type: errorTypes[mode as AuthMode],
    description: `${what}${why}.`,
  };
}

/** Whether the environment subscribes to it (docs/reference/webhooks-out.md#destinations). */
function isAuthWanted(
  { operation }: AuthEvent,
  { onAuthCreation, onAuthRefreshError }: Environment['webhookFlags'],
): boolean {
  if (operation === 'creation') return onAuthCreation;
  return operation === 'refresh' ? onAuthRefreshError : true;
}

/** The body of an auth webhook (docs/reference/webhooks-out.md#auth). */
function authPayload(
  event: AuthEvent,
  environment: Pick<Environment, 'name'>,
  ref: Pick<Connection, 'connectionId' | 'integrationKey' | 'provider' | 'authMode' | 'endUser'> & {
    /** Absent without a connection. */
    readonly tags?: Connection['tags'];
  },
): JsonObject {
  const { operation, error } = event;
  return {
    type: 'auth',
    from: 'svc',
    operation,
    success: error === null,
    authMode: ref.authMode,
    connectionId: ref.connectionId,
    providerConfigKey: ref.integrationKey,
    provider: ref.provider,
    environment: environment.name,
    ...(ref.endUser === null ? {} : { endUser: presentEndUser(ref.endUser) }),
    ...(ref.tags === undefined ? {} : { tags: ref.tags }),
    ...(error === null ? {} : { error: presentError(error) }),
  };
}

const presentError = ({ provider, ...error }: NonNullable<AuthEvent['error']>): JsonObject => ({
  ...error,
  ...(provider === undefined ? {} : { provider: { ...provider } }),
});

const presentEndUser = ({ id, email, organization, tags }: EndUser): JsonObject => ({
  endUserId: id,
  endUserEmail: email,
  ...(organization === null ? {} : { organizationId: organization.id }),
  tags,
});

/**
 * Sends webhooks for created and reauthorized connections, failed refreshes, and the first success after a failure:
 * consumer group `svc.auth-webhooks`.
 */
export const startAuthWebhooks = (deps: WebhookSourceDeps): Promise<AsyncDisposable> =>
  startWebhookSource<CredentialsChanged>(deps, {
    group: 'svc.auth-webhooks',
    topic: 'svc.credentials.v1',
    maxAgeMs: dayMs,
    async webhooksOf(change) {
      const event = authEventOf(change);
      const subject = event === null ? null : await subjectOf(deps, change);
      if (event === null || subject === null) return null;
      const { environment, connection } = subject;
      if (!isAuthWanted(event, environment.webhookFlags)) return null;
      const payload = authPayload(event, environment, connection);
      const messageId = uuidV5(change.event_id, 'auth');
      const messages = await deliveriesOf(deps, { environment, connection, kind: 'auth' }, [
        { messageId, payload },
      ]);
      return { messages, actor: 'system' };
    },
  });

interface Deps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly publisher: Publisher;
  readonly logger: Logger;
}

/**
 * Notifies the application of authorizations that ended without a connection (docs/reference/webhooks-out.md#auth). The
 * response to the user does not depend on it.
 */
export const announceAuthorizations = (deps: Deps): AuthorizationOutcomes => ({
  failed: (authorization, error) => announceFailure(deps, authorization, error),
});

/** The cause is kept by `logged` of the authorization. */
function providerErrorOf({ cause }: GatewayError): { readonly provider?: ProviderError } {
  const found = cause instanceof ProviderAuthError ? cause.failure.providerError : undefined;
  return found === undefined ? {} : { provider: found };
}

async function announceFailure(
  deps: Deps,
  {
    environmentUid,
    integrationKey,
    connectionId,
    reconnectsUid,
    endUser,
    ...ref
  }: FailedAuthorization,
  failure: GatewayError,
): Promise<void> {
  const { control, providers, vault, publisher, logger } = deps;
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) return;
  const operation = reconnectsUid === null ? 'creation' : 'override';
  const { code: type, message: description } = failure;
  const event = { operation, error: { type, description, ...providerErrorOf(failure) } } as const;
  if (!isAuthWanted(event, environment.webhookFlags)) return;
  const integration = findIntegration(control, environmentUid, integrationKey);
  const provider = integration === null ? null : providers.find(integration.provider);
  const existing = findConnection(control, environmentUid, integrationKey, connectionId);
  const named = {
    integrationKey,
    connectionId,
    endUser,
    provider: provider?.name ?? 'unknown',
    authMode: provider?.auth_mode ?? 'unknown',
    webhookUrlOverride: ref.webhookUrlOverride ?? existing?.webhookUrlOverride ?? null,
  };
  const payload = authPayload(event, environment, named);
  try {
    const ofSession = await openUrl(vault, urlOfSession(environmentUid), ref.webhookUrlOverride);
    const address =
      ofSession ??
      (existing && (await openUrl(vault, urlOfConnection(existing), existing.webhookUrlOverride)));
    const messages = await deliveriesOf(
      { control, vault },
      { environment, connection: named, address, kind: 'auth' },
      [{ messageId: randomUUID(), payload }],
    );
    if (messages.length > 0) await publisher.publish(messages, 'system');
  } catch (err) {
    logger.warn({ err, environmentUid }, 'a failed authorization was not announced');
  }
}
