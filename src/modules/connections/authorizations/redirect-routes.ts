import { z } from 'zod';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { integrationKey, mapOf, text } from '#http/fields.ts';
import { repeatableOptions } from '#http/options.ts';
import type { QueryValue } from '#http/query.ts';
import { content, data, json, nothing } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { requireSession } from '../connect-sessions/handlers.ts';
import { acceptCredentials } from '../connections/accept-credentials.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { clientMetadataDocument, clientMetadataPath } from '../credentials/modes/mcp-discovery.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { appSetupPath, callbackPath } from '../providers/callback-url.ts';
import type { Provider } from '../providers/definition.ts';
import { languageOf, languages } from '../providers/routes.ts';
import { defineRoute, type ConnectionsServices } from '../services.ts';
import { authorizationTarget, beginAttempt, type Attempt } from './attempt.ts';
import { answerCallback, cookieName, isSameBrowser, stateOf } from './callback.ts';
import { logged } from './log.ts';
import { failurePage, notifySuccess, notifyFailure } from './notify-outcome.ts';
import { requestedScopes } from './requested-scopes.ts';
import { saveAuthorized } from './save.ts';
import { startRedirect } from './start-redirect.ts';

const cookieSeconds = 3600;
const values = mapOf(text(1, 255), text(0, 8192));
const ownClient = z.strictObject({
  oauth_client_id_override: text(1, 255)
    .optional()
    .describe('Client id in place of that of the integration.'),
  oauth_client_secret_override: text(1, 2048)
    .optional()
    .describe('Client secret in place of that of the integration.'),
  oauth_refresh_token_override: text(1, 16_384)
    .optional()
    .describe('Refresh token to renew at once, in place of a redirect.'),
});
const noStore = { 'cache-control': 'no-store' };

const refusalPage = (error: GatewayError, search: string, services: ConnectionsServices) =>
  failurePage(services, new URLSearchParams(search).get('ws_client_id'), error);

const connect = defineRoute({
  method: 'GET',
  path: '/oauth/connect/{providerConfigKey}',
  writes: true,
  credential: 'connect',
  tokenIn: 'query',
  scopes: [],
  summary: 'Start an authorization at the provider.',
  description:
    'A browser navigates here. It is redirected to the provider, which returns the person to the callback.',
  params: z.strictObject({ providerConfigKey: integrationKey }),
  query: z.strictObject({
    connect_session_token: z.string(),
    ws_client_id: text(1, 64)
      .optional()
      .describe('Id of the WebSocket that is notified of the outcome.'),
    params: values.optional(),
    authorization_params: values.optional(),
    user_scope: text(0, 8192).optional().describe('Scopes of the user token, separated by commas.'),
    credentials: ownClient.optional().describe('OAuth client of the end user.'),
  }),
  answers: {
    200: content('The page for the person, where no redirect was needed.', 'text/html'),
    302: nothing('To the provider.'),
  },
  errors: [
    'unknown_provider_config',
    'unknown_provider_template',
    'invalid_auth_mode',
    'integration_not_allowed',
    'invalid_connection',
    'missing_api_url',
    'url_not_allowed',
    'invalid_credentials',
    'request_token_external_error',
    'authorization_server_unknown',
    'client_registration_refused',
  ],
  refusalPage,
  async handle(input) {
    const { params, query, caller, services } = input;
    const { providerConfigKey: key } = params;
    const waiting = { socketId: query.ws_client_id ?? null, integrationKey: key, connectionId: '' };
    const options = repeatableOptions(input);
    try {
      const attempt = await beginAttempt(services, {
        session: requireSession(caller),
        integrationKey: key,
        params: query.params ?? {},
        isFor: isRedirected,
      });
      waiting.connectionId = attempt.connectionId;
      const request = { ...ownClientOf(query.credentials ?? {}), socketId: waiting.socketId };
      return request.refreshToken === undefined
        ? await redirected(services, attempt, request, options)
        : await renewed(
            services,
            attempt,
            { ...request, refreshToken: request.refreshToken },
            options,
          );
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      await notifyFailure(services, waiting, error);
      throw error;
    }
  },
});

const requestedScopeShape = z.strictObject({
  name: z.string().describe('As the provider names it.'),
  description: z
    .string()
    .nullable()
    .describe('What it allows; null where the catalog does not say it.'),
  language: z.enum(languages).nullable().describe('Language of the description.'),
});

const scopes = defineRoute({
  method: 'GET',
  path: '/oauth/connect/{providerConfigKey}/scopes',
  credential: 'connect',
  scopes: [],
  summary: 'List the scopes that an authorization asks for.',
  description:
    'Those of the connection, of the session or of the integration. Scopes that only the provider knows are not among them.',
  params: z.strictObject({ providerConfigKey: integrationKey }),
  headers: z.object({ 'accept-language': z.string().optional() }),
  answers: {
    200: json('The scopes.', data(z.array(requestedScopeShape.meta({ id: 'RequestedScope' })))),
  },
  errors: [
    'unknown_provider_config',
    'unknown_provider_template',
    'invalid_auth_mode',
    'integration_not_allowed',
    'invalid_connection',
  ],
  async handle({ params, headers, caller, services }) {
    const target = await authorizationTarget(services, {
      session: requireSession(caller),
      integrationKey: params.providerConfigKey,
      isFor: isRedirected,
    });
    const language = languageOf(headers['accept-language']);
    const requested = await requestedScopes(services, target, language);
    const shown = requested.map(({ name, meaning }) => ({
      name,
      description: meaning?.text ?? null,
      language: meaning?.language ?? null,
    }));
    return { status: 200, body: { data: shown }, headers: noStore };
  },
});

const isRedirected = ({ auth_mode, installation }: Provider): boolean =>
  authModeRules[auth_mode].redirect !== null && installation !== 'outbound';

interface OwnClient {
  readonly override: { readonly clientId: string; readonly clientSecret: string } | null;
  readonly refreshToken: string | undefined;
}

/** The user's own client and token, which replace the integration's. */
function ownClientOf(sent: z.output<typeof ownClient>): OwnClient {
  const { oauth_client_id_override: clientId, oauth_client_secret_override: secret = '' } = sent;
  return {
    override: clientId === undefined ? null : { clientId, clientSecret: secret },
    refreshToken: sent.oauth_refresh_token_override,
  };
}

type CallbackRequest = OwnClient & { readonly socketId: string | null };

async function redirected(
  services: ConnectionsServices,
  attempt: Attempt,
  request: CallbackRequest,
  options: ExecuteOptions,
): Promise<RouteAnswer> {
  const { url, state } = await logged(
    services,
    namesOf(attempt),
    () => startRedirect(services, attempt, request, options),
    { isEndedLater: true },
  );
  const isSecure = services.settings.publicUrl.startsWith('https:');
  const reach = isSecure ? 'SameSite=None; Secure' : 'SameSite=Lax';
  const cookie = `${cookieName(state)}=1; Path=/; HttpOnly; Max-Age=${cookieSeconds}; ${reach}`;
  return { status: 302, headers: { ...noStore, location: url, 'set-cookie': cookie } };
}

/** An existing refresh token of the user makes the redirect unnecessary. */
async function renewed(
  services: ConnectionsServices,
  attempt: Attempt,
  { override, refreshToken, socketId }: CallbackRequest & { readonly refreshToken: string },
  options: ExecuteOptions,
): Promise<RouteAnswer> {
  const { rules, integration, provider, session, askedConfig, known } = attempt;
  const { renewal } = rules;
  if (renewal === null || provider.auth_mode !== 'OAUTH2') {
    throw new GatewayError('invalid_auth_mode');
  }
  const held = {
    type: 'OAUTH2',
    refresh_token: refreshToken,
    ...(override === null
      ? {}
      : {
          config_override: { client_id: override.clientId, client_secret: override.clientSecret },
        }),
  };
  const named = namesOf(attempt);
  const connection = await logged(services, named, async () => {
    const context = await modeContext(services, integration, provider, attempt.connectionConfig);
    const credentials = await renewal.renew(held, context);
    const obtained = await acceptCredentials(services, { integration, context, credentials });
    const { endUser, tags, webhookUrlOverride } = session;
    const owner = { ...named, endUser, tags, webhookUrlOverride, provider, known };
    return saveAuthorized(services, owner, { obtained, askedConfig }, options);
  });
  return notifySuccess(services, { ...named, socketId }, connection);
}

const namesOf = ({ id, session, integration, connectionId }: Attempt) => ({
  id,
  environmentUid: session.environmentUid,
  integrationKey: integration.uniqueKey,
  connectionId,
});

/** Providers add parameters of their own; a repeated name counts once, except `iss`. */
const callbackQuery = z.record(z.string(), z.unknown()).transform((query) => {
  const texts = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    const one: unknown = Array.isArray(value) ? value[0] : value;
    return typeof one === 'string' ? [[name, one]] : [];
  });
  return { texts: Object.fromEntries(texts), iss: query['iss'] as QueryValue | undefined };
});
const browser = z.object({
  cookie: z.string().optional(),
  referer: z.string().optional().describe('Page that sent the person here.'),
});

/** The outcome, as a page for the user. */
const shown = {
  200: content('It went well.', 'text/html'),
  400: content('It did not.', 'text/html'),
};

const callback = defineRoute({
  method: 'GET',
  path: callbackPath,
  writes: true,
  credential: 'none',
  scopes: [],
  summary: 'Complete an authorization.',
  description:
    'The redirect URI of OAuth clients. The state is accepted once, in the browser that started.',
  query: callbackQuery,
  headers: browser,
  answers: { ...shown, 302: nothing('Back to where an app was installed from.') },
  errors: [],
  refusalPage,
  async handle({ query, headers, services }) {
    const { texts } = query;
    const isInstallation = 'installation_id' in texts && 'setup_action' in texts;
    // The app was installed from the provider's own pages, without a sign-in here.
    if (!('state' in texts) && isInstallation && isWebPage(headers.referer)) {
      return { status: 302, headers: { ...noStore, location: headers.referer } };
    }
    const came = { ...query, cookies: headers.cookie, unknownStatus: 400 };
    return answerCallback(services, came);
  },
});

/** Longer addresses are refused by servers and proxies. */
const queryCharsMax = 8_000;

const submitted = defineRoute({
  method: 'POST',
  path: callbackPath,
  credential: 'none',
  scopes: [],
  summary: 'Complete an authorization whose response is a form.',
  description:
    'The redirect URI of OAuth clients whose authorization has `response_mode=form_post`. As the GET, with the fields of the form as parameters.',
  body: callbackQuery,
  bodyFormat: 'form',
  headers: browser,
  answers: {
    ...shown,
    303: nothing('To the GET, where the browser did not send the cookie with the form.'),
  },
  errors: [],
  refusalPage,
  async handle({ body, headers, services }) {
    const callback = { ...body, cookies: headers.cookie, unknownStatus: 400 };
    // Browsers send cookies of `SameSite=Lax` with a redirect to a GET, and not with a form of another site.
    const state = stateOf(body.texts);
    const isKnown = state === undefined || isSameBrowser(headers.cookie, state);
    const query = isKnown ? '' : callbackSearch(body);
    if (isKnown || query.length > queryCharsMax) return answerCallback(services, callback);
    const location = `${services.settings.publicUrl}${callbackPath}?${query}`;
    return { status: 303, headers: { ...noStore, 'referrer-policy': 'no-referrer', location } };
  },
});

function callbackSearch({ texts, iss }: z.output<typeof callbackQuery>): string {
  const search = new URLSearchParams(texts);
  if (Array.isArray(iss)) for (const one of iss.slice(1)) search.append('iss', one);
  return search.toString();
}

const isWebPage = (referer: string | undefined): referer is string =>
  referer !== undefined && /^https?:\/\//i.test(referer) && URL.canParse(referer);

const installed = defineRoute({
  method: 'GET',
  path: appSetupPath,
  writes: true,
  credential: 'none',
  scopes: [],
  summary: 'Complete the installation of an app.',
  description: 'The setup URL of apps.',
  query: callbackQuery,
  headers: browser,
  answers: { ...shown, 404: content('Nobody waits for this callback.', 'text/html') },
  errors: [],
  refusalPage,
  async handle({ query, headers, services }) {
    const came = { ...query, cookies: headers.cookie, unknownStatus: 404 };
    return answerCallback(services, came);
  },
});

/** RFC 7591 section 2, under the names of Client ID Metadata Documents. */
const clientMetadataShape = z.strictObject({
  client_id: z.string().describe('Address of this document, which is the id of the client.'),
  client_name: z.string().describe('Name of the client, as an authorization page shows it.'),
  client_uri: z.string().describe('Address of this service.'),
  redirect_uris: z.array(z.string()).describe('Callback addresses.'),
  grant_types: z.array(z.string()).describe('Grants that the client uses (RFC 7591 section 2).'),
  response_types: z.array(z.string()).describe('Response types that the client uses.'),
  token_endpoint_auth_method: z
    .string()
    .describe('How the client authenticates at the token endpoint: `none`.'),
});
const clientMetadataSeconds = 3600;

const clientMetadata = defineRoute({
  method: 'GET',
  path: clientMetadataPath,
  credential: 'none',
  scopes: [],
  summary: 'Get the description of this service as an OAuth client.',
  description:
    'Its address is the client id at authorization servers of MCP servers that accept such documents.',
  answers: { 200: json('The client.', clientMetadataShape) },
  errors: [],
  async handle({ services }) {
    const { publicUrl } = services.settings;
    const body = clientMetadataDocument({ publicUrl, callbackUrl: publicUrl + callbackPath });
    const headers = { 'cache-control': `public, max-age=${clientMetadataSeconds}` };
    return { status: 200, headers, body };
  },
});

export const redirectRoutes: readonly AnyRoute[] = [
  connect,
  scopes,
  callback,
  submitted,
  installed,
  clientMetadata,
];
