import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { lookUpConfiguration } from '#modules/connections/providers/connection-lookup.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import type { HttpClient } from '#ports/http-client.ts';
import { openHttpClient } from '#test/support/fakes/webhook-receiver.ts';

interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

let stack: AsyncDisposableStack;
let http: HttpClient;
let url: string;
let folder: string;
const responses = new Map<string, Json>();
const received: Received[] = [];

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  http = stack.use(await openHttpClient());
  // On a busy machine the client may be slow to notice that an idle connection is closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void request.toArray().then((parts) => {
      const { method = '', url: path = '', headers } = request;
      const body = Buffer.concat(parts as Buffer[]).toString();
      received.push({ method, path, authorization: headers.authorization, body });
      const found = responses.get(path);
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(found ?? { error: 'not_found' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), 'svc-lookup-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
});
afterAll(() => stack.disposeAsync());

const entry = (more: JsonObject): JsonObject => ({
  display_name: 'CRM',
  categories: ['crm'],
  auth_mode: 'OAUTH2',
  docs: 'https://crm.example/docs',
  token_url: `${url}/login/token`,
  proxy: { base_url: `${url}/api` },
  ...more,
});

/** What an operator's file with this entry finds out of a connection. */
async function lookedUp(
  definition: JsonObject,
  connectionConfig: JsonObject = {},
  credentials: JsonObject = { type: 'OAUTH2', access_token: 'at' },
): Promise<JsonObject> {
  received.length = 0;
  const file = join(folder, 'own.json');
  writeFileSync(file, JSON.stringify({ crm: definition }));
  const provider = loadCatalogue({ overlayPath: file }).find('crm')!;
  const connection = { credentials, connectionConfig, metadata: {} };
  return lookUpConfiguration({ http, clock: systemClock }, provider, connection, {});
}

describe('a lookup after connecting', () => {
  it('reads fields of a response, below the base URL and with the credentials', async () => {
    responses.set('/api/me', { account: { id: 7, url: 'https://acme.example/x' } });
    const steps = [
      {
        endpoint: '/me',
        connection_config: {
          account_id: 'account.id',
          site: { path: 'account.url', take: 'origin' },
        },
      },
    ];
    expect(await lookedUp(entry({ connection_lookup: steps }))).toEqual({
      account_id: '7',
      site: 'https://acme.example',
    });
    expect(received).toEqual([
      { method: 'GET', path: '/api/me', authorization: 'Bearer at', body: '' },
    ]);
  });

  it('sends a query of GraphQL', async () => {
    responses.set('/api/graphql', { data: { organization: { id: 'o1' } } });
    const graphql = 'query { organization { id } }';
    const connection_config = { organization: 'data.organization.id' };
    const steps = [{ endpoint: '/graphql', graphql, connection_config }];
    expect(await lookedUp(entry({ connection_lookup: steps }))).toEqual({ organization: 'o1' });
    expect(received).toMatchObject([{ method: 'POST', body: JSON.stringify({ query: graphql }) }]);
  });

  it('reads claims of the token response, else calls', async () => {
    responses.set('/api/tenant', { value: [{ id: 't2' }] });
    const steps = [
      { claims: 'id_token', connection_config: { tenant: 'tid' }, is_optional: true },
      {
        endpoint: '/tenant',
        unless: '${connectionConfig.tenant}',
        item: { path: 'value' },
        connection_config: { tenant: 'id' },
      },
    ];
    const definition = entry({ connection_lookup: steps });
    const idToken = await new SignJWT({ tid: 't1' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from('0123456789abcdef0123456789abcdef'));
    const signedIn = { type: 'OAUTH2', access_token: 'at', raw: { id_token: idToken } };
    expect(await lookedUp(definition, {}, signedIn)).toEqual({ tenant: 't1' });
    expect(received).toEqual([]);
    expect(await lookedUp(definition)).toEqual({ tenant: 't2' });
  });

  it('chooses the item that the connection names, else the preferred one, else the first', async () => {
    responses.set('/login/userinfo', {
      accounts: [
        { id: 'a', is_default: false },
        { id: 'b', is_default: true },
        { id: 'c', is_default: false },
      ],
    });
    const item = { path: 'accounts', choose_by: ['account'] };
    const step = {
      endpoint: 'userinfo',
      relative_to: 'token_url',
      connection_config: { account: 'id', name: 'id' },
    };
    const prefer = { path: 'is_default', equals: 'true' };
    const preferring = entry({ connection_lookup: [{ ...step, item: { ...item, prefer } }] });
    expect(await lookedUp(preferring)).toEqual({ account: 'b', name: 'b' });
    expect(await lookedUp(preferring, { account: 'c' })).toEqual({ name: 'c' });
    await expect(lookedUp(preferring, { account: 'x' })).rejects.toMatchObject({
      code: 'connection_test_failed',
    });
    const plain = entry({ connection_lookup: [{ ...step, item }] });
    expect(await lookedUp(plain)).toEqual({ account: 'a', name: 'a' });
  });

  it('fails when the provider does not return a value, unless the step is optional', async () => {
    responses.set('/api/empty', {});
    const step = { endpoint: '/empty', connection_config: { id: 'id' } };
    await expect(lookedUp(entry({ connection_lookup: [step] }))).rejects.toMatchObject({
      code: 'connection_test_failed',
    });
    const optional = entry({ connection_lookup: [{ ...step, is_optional: true }] });
    expect(await lookedUp(optional)).toEqual({});
  });

  it('stands behind the names of scripts of earlier overlays', async () => {
    const sites = [{ id: 'c1', url: 'https://acme.example' }];
    responses.set('/oauth/token/accessible-resources', sites);
    const base_url = `${url}/ex/crm/\${connectionConfig.cloudId}`;
    const atlassian = { connection_configuration: ['cloudId'], proxy: { base_url } };
    const named = { ...atlassian, post_connection_script: 'atlassianCloudId' };
    expect(await lookedUp(entry(named))).toEqual({
      cloudId: 'c1',
      siteUrl: 'https://acme.example',
      baseUrl: 'https://acme.example',
    });
    responses.set('/login/metadata', { dc: 'us6' });
    const mailchimp = entry({ post_connection_script: 'mailchimpDataCentre' });
    expect(await lookedUp(mailchimp)).toEqual({ dc: 'us6' });
    expect(received.map(({ authorization }) => authorization)).toEqual(['OAuth at']);
    // An alias has the script of its own, not the lookup of its target.
    responses.set('/api/connections', [{ tenantId: 'x1' }]);
    const alias = { ...entry({ post_connection_script: 'xeroTenant' }), alias: 'docusign' };
    expect(await lookedUp(alias)).toEqual({ tenant_id: 'x1' });
  });
});
