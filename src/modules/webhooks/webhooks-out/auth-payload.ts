import type { JsonObject } from '#kernel/stable-json.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Connection, EndUser } from '#modules/connections/connections/state.ts';
import type { CallbackError } from '#modules/connections/credentials/modes/provider-auth-error.ts';
import type { CredentialsChanged } from '#streams/values.ts';

/** A change of the credentials of a connection, as published to the application. */
export interface AuthEvent {
  /** `creation`: a new connection; `override`: authorized again; `refresh`: failed (or a test failed), or recovered. */
  readonly operation: 'creation' | 'override' | 'refresh';
  /** Null = success. Contains no secrets. */
  readonly error: {
    readonly type: string;
    readonly description: string;
    /** The error that the provider returned in a callback. */
    readonly provider?: CallbackError;
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
/** Names of docs/reference/webhooks-out.md#auth. */
const errorTypes: Readonly<Record<string, string>> = {
  OAUTH2_CC: 'client_credentials_fetch_error',
  TWO_STEP: 'two_step_credentials_fetch_error',
  API_KEY: testFailed,
  BASIC: testFailed,
  TBA: testFailed,
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
    type: errorTypes[mode] ?? 'refresh_token_external_error',
    description: `${what}${why}.`,
  };
}

/** Whether the environment subscribes to it (docs/reference/webhooks-out.md#destinations). */
export function isAuthWanted(
  { operation }: AuthEvent,
  { onAuthCreation, onAuthRefreshError }: Environment['webhookFlags'],
): boolean {
  if (operation === 'creation') return onAuthCreation;
  return operation === 'refresh' ? onAuthRefreshError : true;
}

/** The body of an auth webhook (docs/reference/webhooks-out.md#auth). */
export function authPayload(
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
