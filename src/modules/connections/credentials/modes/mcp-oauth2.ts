import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import type { Credentials } from '../../connections/state.ts';
import { scopes as scopesShape } from './client.ts';
import {
  clientAuthMethod,
  clientMetadataPath,
  discoverAuthorization,
  registerClient,
  type McpAuthorization,
} from './mcp-discovery.ts';
import {
  bearer,
  type AuthModeRules,
  type ModeContext,
  type ObtainedCredentials,
  type RedirectContext,
  type RedirectStart,
  type RedirectStartContext,
  type ScopesContext,
} from './mode.ts';
import { readToken } from './oauth2-token.ts';
import { challengeOf, imported, oauth2Import, scopesOfConsent, withoutCode } from './oauth2.ts';
import { strict } from './shapes.ts';
import {
  addressOf,
  clientHeader,
  headersOf,
  paramsOf,
  requestToken,
  tokenValues,
} from './token-request.ts';

/** OAuth of MCP servers: discovery, registration, authorization code (docs/reference/auth-modes.md#mcp_oauth2). */
export const mcpOauth2: AuthModeRules = {
  mode: 'MCP_OAUTH2',
  integration: {
    isRequired: false,
    shape: z.strictObject({
      type: z.literal('MCP_OAUTH2'),
      client_id: z.string().min(1).max(255).optional(),
      client_secret: z.string().min(1).optional(),
      scopes: scopesShape,
    }),
  },
  importShape: () => strict({ type: z.literal('MCP_OAUTH2'), ...oauth2Import }),
  import: async (input) => imported(input),
  form: null,
  redirect: { start, scopes: scopesBeforeDiscovery, finish },
  renewal: {
    isPossible: (held) => textAt(held, 'refresh_token') !== null,
    spendsToken: () => true,
    renew,
  },
  isTested: false,
  authorization: ({ credentials }) => bearer(credentials['access_token']),
};

function serverUrlOf(context: ModeContext): string {
  const { provider } = context;
  const template = provider.mcp_server_url ?? provider.proxy?.base_url;
  return addressOf(provider, 'mcp_server_url', template, tokenValues(context, null));
}

/** A client as stored with a connection, and as authorization servers describe it. */
interface Client {
  readonly client_id: string;
  readonly client_secret?: string;
}

async function start(context: RedirectStartContext): Promise<RedirectStart> {
  const found = await discoverAuthorization(context, serverUrlOf(context));
  const { server, resource } = found;
  const scopes = scopesFor(context, found);
  const { client, isOfIntegration } = await clientFor(context, { ...found, scopes });
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(server.authorization_endpoint);
  const params: Readonly<Record<string, string | null>> = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: context.callbackUrl,
    state: context.state,
    ...challengeOf(verifier),
    resource,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
    // OpenID Connect Core section 11: without it a server may ignore the scope.
    ...(scopes.includes('offline_access') ? { prompt: 'consent' } : {}),
    ...(paramsOf(context.provider.authorization_params, tokenValues(context, null)) as Record<
      string,
      string
    >),
    ...context.authorizationParams,
  };
  for (const [name, value] of Object.entries(params)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  const kept = {
    verifier,
    issuer: server.issuer,
    has_issuer: isIssuerSent(server),
    token_url: server.token_endpoint,
    resource,
    token_endpoint_auth_method: await clientAuthMethod(client, server),
    ...(isOfIntegration ? {} : { config_override: { ...client } }),
  };
  return { url: url.href, kept };
}

const isIssuerSent = (server: McpAuthorization['server']): boolean =>
  (server as JsonObject)['authorization_response_iss_parameter_supported'] === true;

/** Of the integration or the session, or those of the definition; else what the server asks for, with renewal where it can be asked for. */
function scopesFor(context: RedirectStartContext, { server, scopes }: McpAuthorization): string[] {
  const own = ownScopes(context);
  if (own !== null) return [...own];
  const hasRenewal = server.scopes_supported?.includes('offline_access') === true;
  return [...new Set([...scopes, ...(hasRenewal ? ['offline_access'] : [])])];
}

/** Null: neither integration, session nor definition names scopes. */
function ownScopes({ scopes, provider }: ScopesContext): readonly string[] | null {
  const own = scopes.filter((scope) => scope !== '');
  return own.length > 0 ? own : (provider.default_scopes ?? null);
}

/** Without those that the server asks for, which are known only after its discovery. */
function scopesBeforeDiscovery(context: ScopesContext): readonly string[] {
  return scopesOfConsent({ ...context, scopes: ownScopes(context) ?? [] });
}

/** The person's client, that of the integration, the document of this service, or one that is registered now. */
async function clientFor(
  context: RedirectStartContext,
  found: McpAuthorization,
): Promise<{ readonly client: Client; readonly isOfIntegration: boolean }> {
  const { override, client: own, publicUrl } = context;
  const { clientId, clientSecret } = override?.clientId === undefined ? (own ?? {}) : override;
  if (clientId !== undefined) {
    const isOfIntegration = override?.clientId === undefined;
    return { client: clientOf(clientId, clientSecret), isOfIntegration };
  }
  // The id of a client that is an address has to be one with TLS (Client ID Metadata Document, section 3).
  const takesDocument = found.server.client_id_metadata_document_supported === true;
  if (takesDocument && publicUrl.startsWith('https:')) {
    return { client: { client_id: publicUrl + clientMetadataPath }, isOfIntegration: false };
  }
  return { client: await registeredClient(context, found), isOfIntegration: false };
}

const clientOf = (id: string, secret: string | undefined): Client => ({
  client_id: id,
  ...(secret === undefined || secret === '' ? {} : { client_secret: secret }),
});

/** The client that this authorization server knows; a new one where its registration has ended or seems lost. */
async function registeredClient(
  context: RedirectStartContext,
  found: McpAuthorization,
): Promise<Client> {
  const { registeredClients, callbackUrl, refusedClientId } = context;
  const { issuer } = found.server;
  const existing = await registeredClients.find(issuer);
  if (existing !== null && existing['redirect_uri'] === callbackUrl) {
    const id = textAt(existing, 'client_id') ?? '';
    if (id !== refusedClientId && !hasEnded(existing, context)) return heldClient(existing);
  }
  const { client_id, client_secret, client_secret_expires_at } = await registerClient(
    context,
    found,
  );
  const client = {
    ...clientOf(client_id, client_secret),
    redirect_uri: callbackUrl,
    // RFC 7591 section 3.2.1: in seconds, 0 is never.
    ...(client_secret_expires_at === undefined ? {} : { client_secret_expires_at }),
  };
  return heldClient(await registeredClients.keep(issuer, client));
}

const heldClient = (client: JsonObject): Client =>
  clientOf(textAt(client, 'client_id') ?? '', textAt(client, 'client_secret') ?? undefined);

function hasEnded(client: JsonObject, { clock }: ModeContext): boolean {
  const end = client['client_secret_expires_at'];
  return typeof end === 'number' && end !== 0 && end * 1000 <= clock.now();
}

const serverFields = ['issuer', 'token_url', 'resource', 'token_endpoint_auth_method'];

async function finish(
  callback: Readonly<Record<string, string>>,
  kept: JsonObject,
  context: RedirectContext,
): Promise<ObtainedCredentials> {
  checkIssuer(callback['iss'], kept, context);
  const { code } = callback;
  if (code === undefined || code === '') throw withoutCode(context.provider);
  const params = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: context.callbackUrl,
    code_verifier: kept['verifier'] ?? '',
  };
  return tokenOf(context, kept, params, null);
}

/** RFC 9207: the callback of another server than the one that the person was sent to is a mix-up. */
function checkIssuer(iss: string | undefined, kept: JsonObject, { provider }: ModeContext): void {
  if (iss === undefined ? kept['has_issuer'] !== true : iss === kept['issuer']) return;
  const message = `The callback of the provider "${provider.name}" does not name its authorization server.`;
  throw new GatewayError('invalid_callback', { message });
}

async function renew(held: Credentials, context: ModeContext): Promise<ObtainedCredentials> {
  const known = textAt(held, 'token_url') === null ? await describedServer(held, context) : held;
  const params = {
    grant_type: 'refresh_token',
    refresh_token: textAt(held, 'refresh_token') ?? '',
  };
  return tokenOf(context, known, params, held);
}

/** Of imported credentials, which do not name their authorization server. */
async function describedServer(held: Credentials, context: ModeContext): Promise<JsonObject> {
  const { server, resource } = await discoverAuthorization(context, serverUrlOf(context));
  const known = { ...held, issuer: server.issuer, token_url: server.token_endpoint, resource };
  const client = knownClient(known, context);
  return { ...known, token_endpoint_auth_method: await clientAuthMethod(client, server) };
}

/** The client of the connection, else that of the integration. @throws GatewayError `invalid_credentials` */
function knownClient(known: JsonObject, { client, provider }: ModeContext): Client {
  const own = objectOf(known['config_override']);
  if (textAt(own, 'client_id') !== null) return heldClient(own);
  if (client?.clientId !== undefined) return clientOf(client.clientId, client.clientSecret);
  const message = `Neither the connection nor the integration of "${provider.name}" has a client.`;
  throw new GatewayError('invalid_credentials', { message });
}

async function tokenOf(
  context: ModeContext,
  known: JsonObject,
  params: JsonObject,
  held: Credentials | null,
): Promise<ObtainedCredentials> {
  const { provider } = context;
  const client = knownClient(known, context);
  const { client_id: id, client_secret: secret = '' } = client;
  const isInHeader = known['token_endpoint_auth_method'] === 'client_secret_basic';
  const { body } = await requestToken(context, {
    url: textAt(known, 'token_url') ?? '',
    params: {
      ...(isInHeader ? {} : { client_id: id }),
      ...(isInHeader || secret === '' ? {} : { client_secret: secret }),
      resource: known['resource'] ?? '',
      ...params,
    },
    headers: {
      ...(isInHeader ? { authorization: clientHeader(id, secret) } : {}),
      ...headersOf(provider.token_headers, tokenValues(context, null)),
    },
    failure: 'refresh_token_external_error',
  });
  const obtained = readToken(context, body, held);
  const fields = [...serverFields, 'config_override'].flatMap((name) =>
    known[name] === undefined ? [] : [[name, known[name]] as const],
  );
  return {
    ...obtained,
    credentials: {
      ...(obtained.credentials as Credentials),
      type: 'MCP_OAUTH2',
      ...Object.fromEntries(fields),
    },
  };
}
