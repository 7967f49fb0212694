import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Provider } from 'oidc-provider';
import { z } from 'zod';
import { authorize } from './identity-provider.ts';

/** A server of the protocol's own library, and the authorization server that guards it. */
export interface FakeMcpServer extends AsyncDisposable {
  /** Address of the MCP server. */
  readonly url: string;
  readonly issuer: string;
  /** Both, for `SVC_EGRESS_ALLOW`. */
  readonly hostPorts: string;
  /** Grant types of the token calls that were answered with 200, and the codes of those that were refused. */
  readonly tokenCalls: readonly string[];
  /** Ids of the clients that were registered. */
  readonly registered: readonly string[];
  /** The person signs in and agrees: the callback URL. */
  authorize(url: string): Promise<string>;
  /** Ends the grant of every token: refreshes are refused. */
  revokeGrants(): Promise<void>;
}

export interface McpServerOptions {
  /** Whether it registers clients (RFC 7591). */
  readonly registersClients?: boolean;
  /** Reads documents that describe clients, of which the key is the origin and the value where it listens. */
  readonly documentsAt?: readonly [origin: string, url: () => string];
  /** Seconds that an access token lives. */
  readonly tokenSeconds?: number;
  /** Changes the metadata that the MCP server publishes. */
  readonly resourceMetadata?: (metadata: object) => object;
}

const path = '/mcp';

export async function startMcpServer(options: McpServerOptions = {}): Promise<FakeMcpServer> {
  const [guarded, guard] = [createServer(), createServer()];
  const origin = await listening(guarded);
  const issuer = await listening(guard);
  const resource = `${origin}${path}`;
  const provider = providerOf(issuer, resource, options);
  const tokenCalls: string[] = [];
  const registered: string[] = [];
  const grants = new Set<string>();
  provider.on('grant.success', (context) => {
    tokenCalls.push(String(context.oidc.params?.['grant_type']));
    const { grantId } = context.oidc.entities.AccessToken ?? {};
    if (grantId !== undefined) grants.add(grantId);
  });
  provider.on('grant.error', (_context, error) => void tokenCalls.push(error.error));
  provider.on('registration_create.success', (_context, { clientId }) => {
    registered.push(clientId);
  });
  const answer = provider.callback();
  guard.on('request', (request, response) => void answer(request, response));
  const metadata = options.resourceMetadata ?? ((value: object) => value);
  const metadataPath = `/.well-known/oauth-protected-resource${path}`;
  guarded.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === metadataPath) {
      const body = metadata({ resource, authorization_servers: [issuer] });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
      return;
    }
    void serve(provider, resource, `${origin}${metadataPath}`, request, response);
  });
  return {
    url: resource,
    issuer,
    hostPorts: [origin, issuer].map((url) => new URL(url).host).join(','),
    tokenCalls,
    registered,
    authorize: (url) => authorize(url, 'ada'),
    async revokeGrants() {
      for (const id of grants) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        const grant = await provider.Grant.find(id);
        await grant?.destroy();
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([closed(guarded), closed(guard)]);
    },
  };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

function providerOf(
  issuer: string,
  resource: string,
  { registersClients = false, documentsAt, tokenSeconds = 3600 }: McpServerOptions,
): Provider {
  const provider = new Provider(issuer, {
    cookies: { keys: ['of a test'] },
    scopes: ['openid', 'offline_access', 'tools'],
    pkce: { required: () => true },
    ttl: { AccessToken: tokenSeconds },
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: registersClients },
      ...(documentsAt === undefined
        ? {}
        : { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } }),
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_context, indicator) {
          if (indicator !== resource) throw new Error(`the resource ${indicator} is not served`);
          return { scope: 'tools', audience: resource, accessTokenFormat: 'opaque' };
        },
        useGrantedResource: () => true,
      },
    },
    ...(documentsAt === undefined
      ? {}
      : {
          fetch: (url: Request | URL | string, init?: RequestInit) => {
            const [origin, at] = documentsAt;
            const text = url instanceof Request ? url.url : url.toString();
            // Its dispatcher refuses loopback.
            const { headers, method } = init ?? {};
            return fetch(text.replace(origin, at()), {
              ...(headers === undefined ? {} : { headers }),
              ...(method === undefined ? {} : { method }),
            });
          },
        }),
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
  });
  return provider;
}

async function serve(
  provider: Provider,
  resource: string,
  metadataUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const token = value === undefined ? undefined : await provider.AccessToken.find(value);
  if (request.url !== path || token === undefined || token.aud !== resource) {
    response.writeHead(401, {
      'www-authenticate': `Bearer resource_metadata="${metadataUrl}", scope="tools"`,
    });
    response.end();
    return;
  }
  const server = new McpServer({ name: 'fake', version: '1.0.0' });
  server.registerTool(
    'greet',
    { description: 'Greets someone.', inputSchema: { name: z.string() } },
    ({ name }) => ({ content: [{ type: 'text', text: `Hello ${name}, of ${token.accountId}` }] }),
  );
  // Without sessions, as servers behind several processes are.
  const transport = new StreamableHTTPServerTransport({});
  response.once('close', () => {
    void transport.close();
    void server.close();
  });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}
