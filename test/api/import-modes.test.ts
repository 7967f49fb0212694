import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '#cli/import/report.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import {
  openFakeGateway,
  shownIntegration,
  type FakeGateway,
} from '#test/support/fakes/fake-gateway.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import {
  providerOf,
  startAuthorizing,
  type AuthorizingApi,
} from '#test/support/worlds/authorizing.ts';

const sourceKey = `source-${randomUUID()}`;
const title = (text: string) => ({ type: 'string' as const, title: text, description: text });
/** Entries whose connections have another mode at the source. */
const otherModes = [
  providerOf('API_KEY', { name: 'key-variant', aliases: ['oauth'] }),
  providerOf('API_KEY', {
    name: 'key-of-password',
    credentials: { apiKey: { ...title('Key'), aliases: ['password'] } },
    connection_config: { email: { ...title('Email'), aliases: ['username'] } },
  }),
  providerOf('BASIC', {
    name: 'pair-of-key',
    credentials: {
      username: { ...title('Id'), aliases: ['ACCOUNT_ID'] },
      password: { ...title('Secret'), aliases: ['apiKey'] },
    },
    connection_config: { region: { ...title('Region'), optional: true } },
  }),
];

const oauth = providerOf('OAUTH2', { name: 'oauth' });
const mcp = providerOf('MCP_OAUTH2', { name: 'mcp' });

let api: AuthorizingApi;
let root: string;
let source: FakeGateway;
beforeAll(async () => {
  api = await startAuthorizing([oauth, mcp, ...otherModes].map((provider) => ({ provider })));
  root = mkdtempSync(join(tmpdir(), 'svc-import-'));
  source = await openFakeGateway(sourceKey);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
  rmSync(root, { recursive: true });
});

/** The report of an import into prod, which is empty at first. */
async function importedFrom(
  integrations: readonly JsonObject[],
  connections: readonly JsonObject[],
): Promise<Report> {
  source.integrations.splice(0, Infinity, ...integrations);
  source.connections.splice(0, Infinity, ...connections);
  const ended = await commandLine(['import', source.url, '-e', 'prod', '--yes', '--json'], {
    root,
    sandbox: null as never,
    variables: {
      SVC_HOSTPORT: api.url,
      SVC_SECRET_KEY_PROD: api.keys.prod,
      SVC_SOURCE_KEY: sourceKey,
    },
  });
  return JSON.parse(ended.out) as Report;
}

const moved = (name: string, credentials: JsonObject, config: JsonObject = {}): JsonObject => ({
  connection_id: 'moved',
  provider_config_key: name,
  metadata: {},
  connection_config: config,
  credentials,
});
const of = (name: string): JsonObject => api.played(name).importable();
const shownOf = async (name: string) =>
  api.call('GET', `/connections/moved?provider_config_key=${name}`, { key: api.keys.prod });
/** The status of a call to the provider, which judges the credentials. */
async function proxied(name: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${api.keys.prod}`,
    'provider-config-key': name,
    'connection-id': 'moved',
  };
  return (await fetch(`${api.url}/proxy/v1/things`, { headers })).status;
}

describe('an import of credentials whose mode is another here', () => {
  it('takes the entry of that mode, and values under the names that it gives them', async () => {
    const pair = of('pair-of-key');
    const names = ['key-variant', 'key-of-password', 'pair-of-key'];
    const integrations = names.map((name) => ({
      unique_key: name,
      provider: name === 'key-variant' ? oauth.name : name,
    }));
    const connections = [
      moved('key-variant', of('key-variant')),
      moved('key-of-password', {
        type: 'BASIC',
        username: 'ada@example.com',
        password: of('key-of-password')['apiKey'] ?? '',
      }),
      moved(
        'pair-of-key',
        { type: 'API_KEY', apiKey: pair['password'] ?? '' },
        { ACCOUNT_ID: pair['username'] ?? '', region: 'eu' },
      ),
    ];
    const report = await importedFrom(integrations, connections);
    expect(report.problems).toEqual([]);
    for (const name of names) expect([name, await proxied(name)]).toEqual([name, 200]);
    expect((await shownOf('key-variant')).at('provider')).toBe('key-variant');
    expect((await shownOf('key-of-password')).at('connection_config')).toEqual({
      email: 'ada@example.com',
    });
    // What is a credential here is sealed, and nowhere in the clear.
    expect((await shownOf('pair-of-key')).at('connection_config')).toEqual({ region: 'eu' });
    const again = await importedFrom(integrations, connections);
    expect([again.problems, again.changes]).toEqual([[], []]);
    // Without connections the name alone would be the entry of the other mode.
    const alone = await importedFrom(integrations.slice(0, 1), []);
    expect([alone.problems, alone.changes]).toEqual([[], []]);
  });

  it('takes tokens of generic MCP servers', async () => {
    const credentials = { ...of('mcp'), type: 'MCP_OAUTH2_GENERIC' };
    const { connectionConfig } = api.played('mcp');
    const { problems } = await importedFrom(
      [shownIntegration('mcp', api.played('mcp'))],
      [moved('mcp', credentials, { ...connectionConfig })],
    );
    expect(problems).toEqual([]);
    expect((await shownOf('mcp')).at('credentials.type')).toBe('MCP_OAUTH2');
  });

  it('refuses those that no field has a name for', async () => {
    const { problems } = await importedFrom(
      [shownIntegration('oauth', api.played('oauth'))],
      [moved('oauth', { type: 'BASIC', username: 'u', password: 'p' })],
    );
    expect(problems).toMatchObject([{ code: 'auth_mode', kind: 'connections' }]);
    expect(objectOf((await shownOf('oauth')).body)['connection_id']).toBeUndefined();
  });
});
