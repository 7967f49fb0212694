import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#kernel/time.ts';
import { startApi, type Api } from './api.ts';

export interface ApiWithProviders extends Api {
  /** A new key of dev with these scopes. */
  keyWith(...scopes: string[]): Promise<string>;
}

const apiKey = { type: 'string', title: 'Key', description: 'A key.', secret: true };
const entry = { categories: [], docs: 'https://docs.example' };

const overlay = (host: string) => ({
  tested: {
    ...entry,
    display_name: 'Tested',
    auth_mode: 'API_KEY',
    credentials: { apiKey },
    proxy: {
      base_url: `http://${host}`,
      headers: { authorization: 'Bearer ${apiKey}' },
      verification: { endpoints: ['/me'] },
    },
  },
  hooked: {
    ...entry,
    display_name: 'Hooked',
    auth_mode: 'OAUTH2',
    default_scopes: ['read', 'write'],
    webhook_routing_script: 'hookedRouting',
  },
  basic: { ...entry, display_name: 'Basic', auth_mode: 'BASIC' },
  generic: {
    ...entry,
    display_name: 'Generic',
    auth_mode: 'NONE',
    integration_config: {
      baseUrl: { type: 'string', title: 'URL', description: 'Base URL.', format: 'uri' },
      note: { type: 'string', title: 'Note', description: 'Any text.', optional: true },
    },
  },
});

const integrations = [
  { unique_key: 'open', provider: 'open-meteo' },
  { unique_key: 'tested', provider: 'tested' },
  { unique_key: 'basic', provider: 'basic' },
  {
    unique_key: 'oauth',
    provider: 'hooked',
    credentials: { type: 'OAUTH2', client_id: 'cid', client_secret: 'shh' },
  },
];

/** The API with one integration of each mode; the provider `tested` knows the key `good` only. */
export async function startApiWithProviders(
  options: { readonly clock?: Clock } = {},
): Promise<ApiWithProviders> {
  await using stack = new AsyncDisposableStack();
  const provider = createServer((request, response) => {
    response.statusCode = request.headers['authorization'] === 'Bearer good' ? 200 : 401;
    response.end('{}');
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stack.defer(() => new Promise<void>((resolve) => provider.close(() => resolve())));
  const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const folder = mkdtempSync(join(tmpdir(), 'svc-api-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'overlay.json'), JSON.stringify(overlay(host)));
  const api = stack.use(await startApi({ ...options, overlayPath: folder, egressAllow: [host] }));
  for (const body of integrations) {
    const made = await api.call('POST', '/integrations', { body });
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  }
  const environments = await api.call('GET', '/environments', { key: api.keys.account });
  let keysMade = 0;
  const opened = stack.move();
  return {
    ...api,
    async keyWith(...scopes) {
      keysMade += 1;
      const body = {
        environment_id: environments.at('data.0.id'),
        display_name: `key ${keysMade}`,
        scopes,
      };
      const key = api.keys.account;
      const made = await api.call('POST', '/environment/api-keys', { key, body });
      return made.at('data.secret') as string;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
