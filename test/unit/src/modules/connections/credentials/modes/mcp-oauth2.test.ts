import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import type { PlayOptions } from '#fake-providers/rules.ts';
import { openFakeAuth, visit, type FakeAuth } from '#fake-providers/server.ts';
import { textAt } from '#kernel/json-path.ts';
import { limits } from '#kernel/limits.ts';
import type { Credentials } from '#modules/connections/connections/state.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { callerOf, type Caller } from '#test/support/fakes/fake-auth/caller.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';
import { aProvider } from '#test/support/worlds/control.ts';

let stack: AsyncDisposableStack;
let fake: FakeAuth;
let http: HttpClient;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fake = stack.use(await openFakeAuth());
  http = stack.use(await openHttpClient());
});
afterEach(() => stack.disposeAsync());

function play(options: PlayOptions = {}): Caller & PlayedProvider {
  const provider = aProvider({
    auth_mode: 'MCP_OAUTH2',
    mcp_server_url: 'https://tools.example/mcp',
    proxy: { base_url: 'https://tools.example/mcp' },
  });
  const played = fake.play(provider, options);
  return Object.assign(callerOf(played, http), played);
}

const issuerOf = ({ definition }: PlayedProvider) => `${fake.url}/${definition.name}/issuer`;

/** Metadata of the authorization server, with other values. */
const metadata = (played: PlayedProvider, more: object) => ({
  status: 200,
  body: {
    issuer: issuerOf(played),
    authorization_endpoint: `${fake.url}/${played.definition.name}/authorize`,
    token_endpoint: `${fake.url}/${played.definition.name}/token`,
    registration_endpoint: `${fake.url}/${played.definition.name}/register`,
    response_types_supported: ['code'],
    ...more,
  },
});

const clientIn = ({ importable }: PlayedProvider) =>
  importable()['config_override'] as { client_id: string; client_secret: string };

const begin = (server: Caller) => server.rules.redirect!.start(server.redirectContext());

describe('the client of an MCP server', () => {
  it('is registered once, and is kept with the connection', async () => {
    const server = play();
    const obtained = await server.connect();
    await server.connect();
    expect(server.outcomes('register')).toEqual(['granted']);
    expect(obtained.credentials).toMatchObject({
      type: 'MCP_OAUTH2',
      issuer: issuerOf(server),
      token_endpoint_auth_method: 'client_secret_basic',
      config_override: clientIn(server),
    });
    expect(await server.call(obtained)).toBe(200);
  });

  it('is registered again once its secret has ended, or where the connection with it was refused', async () => {
    const server = play();
    const ended = { ...clientIn(server), client_secret_expires_at: 1, redirect_uris: [] };
    server.plan('register', { status: 201, body: ended });
    await server.connect();
    await server.connect();
    expect(server.outcomes('register')).toHaveLength(2);
    await server.connect({ refusedClientId: clientIn(server).client_id });
    expect(server.outcomes('register')).toHaveLength(3);
  });

  it('is that of the integration, whose secret is not repeated in the connection', async () => {
    const server = play();
    const { client_id: clientId, client_secret: clientSecret } = clientIn(server);
    const client = { type: 'MCP_OAUTH2', clientId, clientSecret };
    const obtained = await server.connect({ client });
    expect(server.outcomes('register')).toEqual([]);
    expect(JSON.stringify(obtained.credentials)).not.toContain(clientSecret);
    const renewed = await server.rules.renewal!.renew(obtained.credentials as Credentials, {
      ...server.context(),
      client,
    });
    expect(await server.call(renewed)).toBe(200);
  });

  it('is the document of this service where the server reads it and the address is https', async () => {
    const server = play();
    const supported = { client_id_metadata_document_supported: true };
    server.plan('issuer', metadata(server, supported), metadata(server, supported));
    const publicUrl = 'https://gateway.example';
    const { url } = await server.rules.redirect!.start(server.redirectContext({ publicUrl }));
    expect(new URL(url).searchParams.get('client_id')).toBe(
      'https://gateway.example/oauth/client-metadata.json',
    );
    await begin(server);
    expect(server.outcomes('register')).toEqual(['granted']);
  });
});

describe('scopes', () => {
  it('are those of the integration, else those that the server asks for and that of renewal', async () => {
    const server = play();
    const scopesIn = (url: string) => new URL(url).searchParams.get('scope');
    const resource = { authorization_servers: [issuerOf(server)], scopes_supported: ['read'] };
    server.plan('resource', {
      status: 200,
      body: { ...resource, resource: server.definition.mcp_server_url ?? '' },
    });
    server.plan('issuer', metadata(server, { scopes_supported: ['read', 'offline_access'] }));
    const { url } = await begin(server);
    expect(scopesIn(url)).toBe('read offline_access');
    expect(new URL(url).searchParams.get('prompt')).toBe('consent');
    const own = await server.rules.redirect!.start(server.redirectContext({ scopes: ['write'] }));
    expect(scopesIn(own.url)).toBe('write');
  });
});

describe('discovery refuses', () => {
  const refusal = (message: string) => ({
    failure: {
      code: 'authorization_server_unknown',
      message: expect.stringContaining(message) as string,
    },
  });

  it('metadata of another issuer', async () => {
    const server = play();
    server.plan('issuer', metadata(server, { issuer: 'https://other.example' }));
    await expect(begin(server)).rejects.toMatchObject(refusal('https://other.example'));
  });

  it('an authorization server without PKCE', async () => {
    const server = play();
    server.plan('issuer', metadata(server, { code_challenge_methods_supported: ['plain'] }));
    await expect(begin(server)).rejects.toMatchObject(refusal('no PKCE with S256'));
  });

  it('an address of another scheme', async () => {
    const server = play();
    server.plan('issuer', metadata(server, { token_endpoint: 'ftp://tools.example/token' }));
    await expect(begin(server)).rejects.toMatchObject(refusal('no https address'));
  });

  it('metadata without the token endpoint, and names it', async () => {
    const server = play();
    server.plan('issuer', metadata(server, { token_endpoint: 4711 }));
    await expect(begin(server)).rejects.toMatchObject(refusal('not valid: token_endpoint.'));
  });

  it('metadata that is too long', async () => {
    const server = play();
    const long = { service_name: 'x'.repeat(limits.oauthMetadataBytesMax) };
    server.plan('issuer', metadata(server, long));
    await expect(begin(server)).rejects.toMatchObject(refusal(''));
  });
});

describe('the callback', () => {
  it.each([
    ['of another issuer', { iss: 'https://other.example' }],
    ['without the issuer that the server announces', {}],
  ])('%s is refused before its code is presented', async (_, more) => {
    const server = play();
    server.plan(
      'issuer',
      metadata(server, { authorization_response_iss_parameter_supported: true }),
    );
    const context = server.redirectContext();
    const { url, kept } = await server.rules.redirect!.start(context);
    const callback = { ...(await visit(url)), ...more };
    await expect(server.rules.redirect!.finish(callback, kept, context)).rejects.toMatchObject({
      code: 'invalid_callback',
    });
    expect(server.outcomes('token')).toEqual([]);
  });
});

describe('a refresh', () => {
  it('of imported credentials finds the authorization server first', async () => {
    const server = play();
    const imported = await server.import();
    const renewed = await server.rules.renewal!.renew(
      imported.credentials as Credentials,
      server.context(),
    );
    expect(renewed.credentials).toMatchObject({ issuer: issuerOf(server) });
    expect(await server.call(renewed)).toBe(200);
  });

  it('that presents a spent token is refused for good, without the token in the message', async () => {
    const server = play();
    const { credentials } = await server.connect();
    const held = credentials as Credentials;
    const renew = () => server.rules.renewal!.renew(held, server.context());
    await renew();
    const error = (await renew().catch((cause: unknown) => cause)) as Error;
    expect(error).toMatchObject({ failure: { isDefinitive: true, endsValidToken: true } });
    expect(error.message).not.toContain(textAt(held, 'refresh_token'));
  });
});
