import { z } from 'zod';
import { type AnyRoute, errorAt, type RouteError } from '#http/define-route.ts';
import { bodyIssues } from '#http/error-response.ts';
import { integrationKey, jsonObject, mapOf, text } from '#http/fields.ts';
import { repeatableOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { requireSession } from '../connect-sessions/handlers.ts';
import { acceptCredentials } from '../connections/accept-credentials.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { ObtainedCredentials } from '../credentials/modes/mode.ts';
import type { AuthMode, Provider } from '../providers/definition.ts';
import { defineRoute, type ConnectionsServices } from '../services.ts';
import { beginAttempt, type Attempt } from './attempt.ts';
import { logged } from './log.ts';
import { saveAuthorized } from './save.ts';

/** The resulting connection. */
const connectedShape = z
  .strictObject({ connectionId: z.string(), providerConfigKey: z.string() })
  .meta({
    id: 'Connected',
    examples: [{ connectionId: 'acme-1', providerConfigKey: 'crm-prod' }],
  });

const path = z.strictObject({ providerConfigKey: integrationKey });
const query = z.strictObject({
  connect_session_token: z.string(),
  params: mapOf(text(1, 255), text(0, 8192)).optional(),
});

/** The mode validates the fields; here only their names are checked. */
const fields = jsonObject.refine(
  (sent) => Object.keys(sent).every((name) => text(1, 255).safeParse(name).success),
  'The name of a field is not valid.',
);

interface FormEndpoint {
  readonly path: string;
  /** A body of the mode. */
  readonly example: JsonObject;
  readonly summary: string;
  readonly description: string;
  readonly isFor: (provider: Provider) => boolean;
  readonly errors: readonly RouteError[];
  readonly unknownStatus?: number;
  /**
   * @param sent the body
   * @throws GatewayError `invalid_body`
   */
  readonly obtain: (attempt: Attempt, sent: JsonObject) => ObtainCredentials;
}

/** The validated body, and the work that runs as an operation of the log. */
type ObtainCredentials = (services: ConnectionsServices) => Promise<ObtainedCredentials>;

/** A way to send credentials without leaving the page (docs/reference/http.md#credential-forms). */
const formRoute = (formEndpoint: FormEndpoint): AnyRoute =>
  defineRoute({
    method: 'POST',
    path: `${formEndpoint.path}/{providerConfigKey}`,
    credential: 'connect',
    tokenIn: 'query',
    scopes: [],
    summary: formEndpoint.summary,
    description: formEndpoint.description,
    params: path,
    query,
    body: fields.meta({ examples: [formEndpoint.example] }),
    answers: { 200: json('The connection.', connectedShape) },
    errors: [
      errorAt(formEndpoint.unknownStatus ?? 404, 'unknown_provider_config'),
      'unknown_provider_template',
      'invalid_auth_mode',
      'integration_not_allowed',
      'invalid_connection',
      'connection_validation_failed',
      'url_not_allowed',
      ...formEndpoint.errors,
    ],
    async handle(input) {
      const { params, query: request, body, caller, services } = input;
      const session = requireSession(caller);
      const attempt = await beginAttempt(services, {
        session,
        integrationKey: params.providerConfigKey,
        params: request.params ?? {},
        isFor: formEndpoint.isFor,
        unknownStatus: formEndpoint.unknownStatus,
      });
      const obtain = formEndpoint.obtain(attempt, body);
      const { integration, connectionId, known, askedConfig } = attempt;
      const { environmentUid, endUser, tags, webhookUrlOverride } = session;
      const { uniqueKey: key } = integration;
      const owner = { environmentUid, integrationKey: key, connectionId };
      await logged(services, { ...owner, id: attempt.id }, async () => {
        const obtained = await obtain(services);
        await saveAuthorized(
          services,
          {
            ...owner,
            endUser,
            tags,
            webhookUrlOverride,
            provider: attempt.provider,
            known,
          },
          { obtained, askedConfig },
          repeatableOptions(input),
        );
      });
      return { status: 200, body: { connectionId, providerConfigKey: key } };
    },
  });

/** By the form of the mode: its shape defines the fields, and the provider verifies the credentials. */
function submitted(attempt: Attempt, sent: JsonObject): ObtainCredentials {
  const { rules, provider, integration, connectionConfig } = attempt;
  if (rules.form === null) throw new GatewayError('invalid_auth_mode');
  const { form } = rules;
  const parsed = form.shape(provider).safeParse(sent);
  if (!parsed.success) throw bodyIssues(parsed.error);
  return async (services) => {
    const context = await modeContext(services, integration, provider, connectionConfig);
    const credentials = await form.submit(parsed.data, context);
    return acceptCredentials(services, { integration, context, credentials });
  };
}

interface FormOfMode {
  readonly path: string;
  readonly what: string;
  readonly example: JsonObject;
  readonly errors: readonly RouteError[];
  readonly unknownStatus?: 400;
}

const endpointOf = (mode: AuthMode, { path, what, ...form }: FormOfMode): FormEndpoint => ({
  ...form,
  path,
  summary: `Create a connection with ${what}.`,
  description: `For the authentication mode \`${mode}\`. The fields of the body are those of the mode.`,
  isFor: ({ auth_mode }) => auth_mode === mode,
  obtain: submitted,
});

/** Connections that the provider installs, which wait for its webhook. */
const outbound: FormEndpoint = {
  path: '/auth/oauth-outbound',
  example: {},
  summary: 'Create a connection that waits for an installation.',
  description:
    'The provider reports the installation by a webhook; until then the connection is pending.',
  isFor: ({ installation }) => installation === 'outbound',
  errors: [],
  obtain: () => async () => ({
    credentials: null,
    expiresAt: null,
    connectionConfig: { pending: true },
  }),
};

const login = { username: 'ada', password: 'p-0123' };
const tested: RouteError = 'connection_test_failed';

/** The form of each mode; null: a connection comes about at the provider, by redirects or an installation. */
const forms: Readonly<Record<AuthMode, FormOfMode | null>> = {
  OAUTH2_CC: {
    path: '/oauth2/auth',
    what: 'client credentials',
    example: { client_id: 'c-0123', client_secret: 's-0123' },
    errors: [
      'missing_client_id',
      'missing_client_secret',
      'missing_client_private_key',
      'invalid_credentials',
      'invalid_certificate_or_key_format',
      'missing_api_url',
      'client_credentials_fetch_error',
    ],
    unknownStatus: 400,
  },
  API_KEY: {
    path: '/api-auth/api-key',
    what: 'an API key',
    example: { apiKey: 'k-0123' },
    errors: [tested],
  },
  BASIC: {
    path: '/api-auth/basic',
    what: 'user name and password',
    example: login,
    errors: [tested],
  },
  TBA: {
    path: '/auth/tba',
    what: 'a token of an account',
    example: { token_id: 't-0123', token_secret: 's-0123' },
    errors: [tested],
  },
  JWT: {
    path: '/auth/jwt',
    what: 'a key that signs tokens',
    example: { privateKey: 'k-0123' },
    errors: ['invalid_credentials', tested],
  },
  BILL: {
    path: '/auth/bill',
    what: 'a login that yields a session',
    example: { ...login, organization_id: 'o-1', dev_key: 'k-0123' },
    errors: ['invalid_credentials', 'missing_api_url'],
  },
  TWO_STEP: {
    path: '/auth/two-step',
    what: 'fields that yield a token',
    example: login,
    errors: ['two_step_credentials_fetch_error', 'invalid_credentials', 'missing_api_url'],
  },
  SIGNATURE: {
    path: '/auth/signature',
    what: 'credentials that sign requests',
    example: { type: 'SIGNATURE', ...login },
    errors: [tested],
  },
  NONE: { path: '/auth/unauthenticated', what: 'no credentials', example: {}, errors: [] },
  APP_STORE: {
    path: '/app-store-auth',
    what: 'a key of the App Store',
    example: { privateKeyId: 'K0123', issuerId: 'i-0123', privateKey: 'k-0123' },
    errors: ['invalid_credentials', tested],
  },
  AWS_SIGV4: {
    path: '/auth/aws-sigv4',
    what: 'access keys of AWS',
    example: { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 's-0123' },
    errors: ['invalid_credentials', 'missing_api_url', tested],
  },
  OAUTH1: null,
  OAUTH2: null,
  MCP_OAUTH2: null,
  APP: null,
  CUSTOM: null,
};

export const formRoutes: readonly AnyRoute[] = [
  ...Object.entries(forms).flatMap(([mode, form]) =>
    form === null ? [] : [endpointOf(mode as AuthMode, form)],
  ),
  outbound,
].map(formRoute);
