/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  startMcpServer,
  type FakeMcpServer,
  type McpServerOptions,
} from '#test/support/fakes/mcp-server.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

const key = 'tools';

interface World {
  readonly mcp: FakeMcpServer;
  readonly gateway: RunningGateway;
}

/** A gateway with an integration of a server of the protocol. */
async function openWorld(
  options: McpServerOptions,
  { env = {}, credentials }: { readonly env?: Record<string, string>; credentials?: object } = {},
): Promise<World> {
  const mcp = stack.use(await startMcpServer(options));
  const gateway = stack.use(
    await startGateway({ env: { SVC_EGRESS_ALLOW: mcp.hostPorts, ...env } }),
  );
  const body = { provider: 'mcp-generic', unique_key: key, credentials };
  const made = await gateway.call('POST', '/integrations', { body });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return { mcp, gateway };
}

/** The browser is at the authorization server. */
async function begin({ mcp, gateway }: World, session?: string) {
  const made = await gateway.call('POST', '/connect/sessions', {
    body: { end_user: { id: 'ada' } },
  });
  const query = new URLSearchParams({
    connect_session_token: session ?? String(made.body.data.token),
    'params[mcp_server_url]': mcp.url,
  });
  return fetch(`${gateway.url}/oauth/connect/${key}?${query.toString()}`, { redirect: 'manual' });
}

/** A person connects; the id of the connection. */
async function connect(world: World, session?: string): Promise<string> {
  const { mcp, gateway } = world;
  const started = await begin(world, session);
  expect(started.status, await started.clone().text()).toBe(302);
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? '';
  const back = new URL(await mcp.authorize(started.headers.get('location') ?? ''));
  const landed = await fetch(`${gateway.url}${back.pathname}${back.search}`, {
    headers: { cookie },
  });
  expect(landed.status, await landed.clone().text()).toBe(200);
  const listed = await gateway.call('GET', '/connections');
  return String(listed.body.connections[0].connection_id);
}

const nameOf = (id: string, query = '') =>
  `/connections/${id}?provider_config_key=${key}&refresh_token=true${query}`;

/** The tools of the server, through the proxy. */
async function toolsOf({ gateway }: World, id: string): Promise<string[]> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'provider-config-key': key,
    'connection-id': id,
  };
  const transport = new StreamableHTTPClientTransport(new URL('/proxy/', gateway.url), {
    requestInit: { headers },
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name);
}

const secretsIn = ({ body }: { body: { credentials: Record<string, unknown> } }): string[] =>
  [body.credentials['access_token'], body.credentials['refresh_token']].map(String);

describe('a connection to an MCP server', () => {
  it('whose authorization server registers clients lists the tools, also after a refresh', async () => {
    const world = await openWorld({ registersClients: true });
    const { mcp, gateway } = world;
    const id = await connect(world);
    expect(await toolsOf(world, id)).toEqual(['greet']);
    const first = await gateway.call('GET', nameOf(id));
    expect(first.body.credentials).toMatchObject({
      type: 'MCP_OAUTH2',
      issuer: mcp.issuer,
      resource: mcp.url,
      config_override: { client_id: mcp.registered[0] },
    });

    const renewed = await gateway.call('GET', nameOf(id, '&force_refresh=true'));
    expect(renewed.status, JSON.stringify(renewed.body)).toBe(200);
    expect(secretsIn(renewed)[0]).not.toBe(secretsIn(first)[0]);
    expect(await toolsOf(world, id)).toEqual(['greet']);
    expect(mcp.tokenCalls).toEqual(['authorization_code', 'refresh_token']);

    const secrets = [first, renewed].flatMap(secretsIn);
    const logged = gateway.log.join('\n');
    for (const secret of secrets) expect(logged).not.toContain(secret);
  });

  it('registers once for all connections of an integration', async () => {
    const world = await openWorld({ registersClients: true });
    await connect(world);
    await connect(world);
    expect(world.mcp.registered).toHaveLength(1);
  });

  it('is renewed when its token has ended, and has an auth error when the grant is gone', async () => {
    const world = await openWorld({ registersClients: true, tokenSeconds: 1 });
    const { mcp, gateway } = world;
    const id = await connect(world);
    await expect
      .poll(async () => {
        await toolsOf(world, id);
        return mcp.tokenCalls.includes('refresh_token');
      })
      .toBe(true);

    await mcp.revokeGrants();
    const refused = await gateway.call('GET', nameOf(id, '&force_refresh=true'));
    expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_credentials']);
    const listed = await gateway.call('GET', '/connections');
    expect(listed.body.connections[0].errors).toMatchObject([{ type: 'auth' }]);

    // Its registration may be what was lost.
    const session = await gateway.call('POST', '/connect/sessions/reconnect', {
      body: { connection_id: id, integration_id: key },
    });
    expect(await connect(world, String(session.body.data.token))).toBe(id);
    expect(mcp.registered).toHaveLength(2);
    expect(await toolsOf(world, id)).toEqual(['greet']);
    expect((await gateway.call('GET', nameOf(id))).body.errors).toEqual([]);
  });

  it('whose authorization server reads documents of clients needs no registration', async () => {
    const publicUrl = 'https://gateway.example.com';
    let gatewayUrl = '';
    const world = await openWorld(
      { registersClients: true, documentsAt: [publicUrl, () => gatewayUrl] },
      { env: { SVC_PUBLIC_URL: publicUrl } },
    );
    gatewayUrl = world.gateway.url;
    const id = await connect(world);
    expect(world.mcp.registered).toEqual([]);
    expect(await toolsOf(world, id)).toEqual(['greet']);
    const shown = await world.gateway.call('GET', nameOf(id, '&force_refresh=true'));
    expect(shown.body.credentials.config_override).toEqual({
      client_id: `${publicUrl}/oauth/client-metadata.json`,
    });
    expect(world.mcp.tokenCalls).toEqual(['authorization_code', 'refresh_token']);
  });
});

describe('no connection', () => {
  const refusalOf = async (world: World): Promise<string> => {
    const started = await begin(world);
    expect(started.status).toBe(400);
    return started.text();
  };

  it('comes about where no client can be registered: the integration needs one', async () => {
    const page = await refusalOf(await openWorld({}));
    expect(page).toContain('registered no client');
  });

  it('comes about where the metadata is that of another resource', async () => {
    const world = await openWorld({
      registersClients: true,
      resourceMetadata: (metadata) => ({ ...metadata, resource: 'https://other.example/mcp' }),
    });
    expect(await refusalOf(world)).toContain('names no usable authorization server');
    expect(world.mcp.registered).toEqual([]);
  });

  it('comes about where the metadata leads to an address that the service may not call', async () => {
    const world = await openWorld({
      resourceMetadata: (metadata) => ({
        ...metadata,
        authorization_servers: ['http://169.254.169.254'],
      }),
    });
    expect(await refusalOf(world)).toContain('url_not_allowed');
  });
});
