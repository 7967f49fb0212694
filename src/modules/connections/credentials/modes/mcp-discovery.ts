import type {
  AuthorizationServerMetadata,
  OAuthClientInformationFull,
} from '@modelcontextprotocol/sdk/shared/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { printable } from '#kernel/printable.ts';
import { HttpFailure, type HttpReply } from '#ports/http-client.ts';
import type { ModeContext, RedirectStartContext } from './mode.ts';
import { ProviderAuthError } from './provider-auth-error.ts';

/** Where and how an MCP server is authorized (docs/reference/auth-modes.md#mcp_oauth2). */
export interface McpAuthorization {
  /** RFC 8707: the resource that tokens are for. */
  readonly resource: string;
  readonly server: AuthorizationServerMetadata;
  /** Those that the MCP server asks for; empty: the authorization server decides. */
  readonly scopes: readonly string[];
}

const timeoutMs = 10_000;
const probe = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'svc', version: '1.0.0' },
  },
};

/** Loaded on the first use: importing the library of the protocol would add 0.1 s to every start. */
const library = () => import('@modelcontextprotocol/sdk/client/auth.js');

/**
 * The authorization server of an MCP server: by the metadata that its 401 names (RFC 9728), then by that of the
 * authorization server (RFC 8414, OpenID Connect Discovery). Servers of the first edition of the protocol have no
 * metadata and are their own authorization servers.
 * @throws ProviderAuthError `authorization_server_unknown`; GatewayError `url_not_allowed`
 */
export async function discoverAuthorization(
  context: ModeContext,
  serverUrl: string,
): Promise<McpAuthorization> {
  const sdk = await library();
  const fetch = fetchOver(context.http);
  return failing(context, 'authorization_server_unknown', async () => {
    const challenge = sdk.extractWWWAuthenticateParams(await challengeOf(fetch, serverUrl));
    const { resourceMetadataUrl } = challenge;
    const metadata = await sdk
      .discoverOAuthProtectedResourceMetadata(
        serverUrl,
        resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
        fetch,
      )
      .catch((error: unknown) => {
        const isOptional = resourceMetadataUrl === undefined && !isOfAddress(error);
        if (isOptional) return undefined;
        throw error;
      });
    const url = metadata?.authorization_servers?.[0] ?? new URL('/', serverUrl).href;
    refusePlain(serverUrl, [url]);
    const server = await sdk.discoverAuthorizationServerMetadata(url, { fetchFn: fetch });
    if (server === undefined) throw new Error(`${url} has no metadata`);
    checkServer(server, url);
    refusePlain(serverUrl, addressesOf(server));
    const scopes = challenge.scope?.split(' ') ?? metadata?.scopes_supported ?? [];
    const resource = await sdk.selectResourceURL(serverUrl, anyProvider, metadata);
    return { resource: resource?.href ?? serverUrl, server, scopes };
  });
}

/** The library asks it for a check of its own, which there is none of. */
const anyProvider = {} as Parameters<Awaited<ReturnType<typeof library>>['selectResourceURL']>[1];

/** Calls the server without a token, as clients of the protocol do. */
async function challengeOf(fetch: FetchLike, serverUrl: string): Promise<Response> {
  return fetch(serverUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(probe),
  });
}

/** RFC 8414 section 3.3: metadata of another issuer is a mix-up. A slash at the end is no other issuer. */
function checkServer({ issuer, ...server }: AuthorizationServerMetadata, url: string): void {
  if (withoutSlash(issuer) !== withoutSlash(url)) {
    throw new Error(`the metadata of ${url} names the issuer ${issuer}`);
  }
  const { response_types_supported: types, code_challenge_methods_supported: methods } = server;
  if (!types.includes('code')) throw new Error(`${url} has no authorization code grant`);
  // RFC 8414 section 2: where they are left out, the server says nothing about them.
  if (methods !== undefined && !methods.includes('S256')) {
    throw new Error(`${url} has no PKCE with S256`);
  }
}

const withoutSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : url);

const addressesOf = (server: AuthorizationServerMetadata): string[] =>
  [server.authorization_endpoint, server.token_endpoint, server.registration_endpoint].filter(
    (url) => url !== undefined,
  );

/** A server with TLS does not lead to addresses without it (OAuth 2.1 section 1.5). */
function refusePlain(serverUrl: string, urls: readonly string[]): void {
  const isPlainAllowed = new URL(serverUrl).protocol === 'http:';
  const plain = urls.find((url) => {
    const { protocol } = new URL(url);
    return protocol !== 'https:' && !(isPlainAllowed && protocol === 'http:');
  });
  if (plain !== undefined) throw new Error(`${plain} is no https address`);
}

/** Path of the document that describes this service as a client (Client ID Metadata Document). */
export const clientMetadataPath = '/oauth/client-metadata.json';

/** What authorization servers show and check of this service. */
const metadataOf = ({ publicUrl, callbackUrl }: ClientAddresses) => ({
  client_name: new URL(publicUrl).host,
  client_uri: publicUrl,
  redirect_uris: [callbackUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
});

type ClientAddresses = Pick<RedirectStartContext, 'publicUrl' | 'callbackUrl'>;

/** The document at `clientMetadataPath`: its address is the id of a public client. */
export const clientMetadataDocument = (addresses: ClientAddresses) => ({
  client_id: addresses.publicUrl + clientMetadataPath,
  ...metadataOf(addresses),
  token_endpoint_auth_method: 'none',
});

/**
 * Registers this service at the authorization server (RFC 7591).
 * @throws ProviderAuthError `client_registration_refused`
 */
export async function registerClient(
  context: RedirectStartContext,
  { server, scopes }: McpAuthorization,
): Promise<OAuthClientInformationFull> {
  const sdk = await library();
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const method = ['client_secret_basic', 'client_secret_post', 'none'].find((name) =>
    methods.includes(name),
  );
  return failing(context, 'client_registration_refused', async () => {
    if (server.registration_endpoint === undefined) {
      throw new Error(`${server.issuer} has no registration of clients`);
    }
    return sdk.registerClient(server.issuer, {
      metadata: server,
      clientMetadata: {
        ...metadataOf(context),
        ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
      },
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      fetchFn: fetchOver(context.http),
    });
  });
}

/** How the client proves itself at the token endpoint. */
export async function clientAuthMethod(
  client: { readonly client_id: string; readonly client_secret?: string },
  server: AuthorizationServerMetadata,
): Promise<string> {
  const sdk = await library();
  return sdk.selectClientAuthMethod(client, server.token_endpoint_auth_methods_supported ?? []);
}

/** `fetch` of the library over our client, which checks every address; redirects are not followed. */
const fetchOver =
  (http: ModeContext['http']): FetchLike =>
  async (address, init = {}) => {
    const { method = 'GET', headers, body } = init;
    const reply = await http.request({
      method,
      url: new URL(address),
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' ? { body } : {}),
      timeoutMs,
      maxBytes: limits.oauthMetadataBytesMax,
    });
    return responseOf(reply);
  };

function responseOf({ status, headers, body }: HttpReply): Response {
  const isEmpty = status === 204 || status === 304;
  return new Response(isEmpty ? null : Uint8Array.from(body), { status, headers });
}

const isOfAddress = (error: unknown): boolean =>
  error instanceof HttpFailure || error instanceof GatewayError;

const reasonCharsMax = 300;

/** What the library, or a check of ours, does not accept. */
async function failing<T>(
  { provider }: ModeContext,
  code: 'authorization_server_unknown' | 'client_registration_refused',
  task: () => Promise<T>,
): Promise<T> {
  try {
    return await task();
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    const text = printable(reasonOf(cause).replaceAll(/\s+/g, ' ')).slice(0, reasonCharsMax);
    const what =
      code === 'client_registration_refused'
        ? 'registered no client'
        : 'names no usable authorization server';
    throw new ProviderAuthError(
      {
        code,
        message: `The MCP server of "${provider.name}" ${what}: ${text}.`,
        isDefinitive: false,
        providerStatus: null,
        providerCode: null,
      },
      { cause },
    );
  }
}

function reasonOf(cause: unknown): string {
  if (cause instanceof z.core.$ZodError) {
    const fields = cause.issues.map(({ path }) => path.join('.'));
    return `its metadata is not valid: ${[...new Set(fields)].join(', ')}`;
  }
  return cause instanceof Error ? cause.message : String(cause);
}
