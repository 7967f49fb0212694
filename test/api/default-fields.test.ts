import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
const requests: string[] = [];
const provider = createServer((request, response) => {
  requests.push(`${request.method} ${request.url}`);
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ access_token: 'fresh', expires_in: 3600 }));
});
const folder = mkdtempSync(join(tmpdir(), 'svc-defaults-'));
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const entry = {
    categories: [],
    docs: 'https://docs.example',
    connection_config: {
      host: {
        type: 'string',
        title: 'Region',
        description: 'Where the account is kept.',
        enum: [host, 'eu.crm.example'],
        default_value: host,
      },
    },
    proxy: { base_url: 'http://${connectionConfig.host}/api' },
  };
  const overlay = {
    keyed: {
      ...entry,
      display_name: 'Keyed',
      auth_mode: 'API_KEY',
      credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.' } },
    },
    renewed: {
      ...entry,
      display_name: 'Renewed',
      auth_mode: 'OAUTH2',
      authorization_url: 'http://${connectionConfig.host}/authorize',
      token_url: 'http://${connectionConfig.host}/token',
    },
  };
  writeFileSync(join(folder, 'overlay.json'), JSON.stringify(overlay));
  api = await startApi({ overlayPath: folder, egressAllow: [host] });
  for (const [key, { auth_mode: type }] of Object.entries(overlay)) {
    const credentials =
      type === 'OAUTH2' ? { type, client_id: 'c', client_secret: 's' } : undefined;
    const body = { provider: key, unique_key: key, credentials };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
  }
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await new Promise<void>((resolve) => provider.close(() => resolve()));
  rmSync(folder, { recursive: true });
});

async function connect(integration: string, credentials: object): Promise<void> {
  const body = { provider_config_key: integration, connection_id: 'old', credentials };
  expect(codeOf(await api.call('POST', '/connections', { body }))).toBe('201 ');
}

it('a connection without a field of its provider is called with the default of the field', async () => {
  await connect('keyed', { type: 'API_KEY', apiKey: 'k' });
  const headers = { 'provider-config-key': 'keyed', 'connection-id': 'old' };
  expect((await api.call('GET', '/proxy/me', { headers })).status).toBe(200);
  expect(requests).toContain('GET /api/me');
  const read = await api.call('GET', '/connections/old?provider_config_key=keyed');
  expect(read.at('connection_config')).toEqual({});
});

it('its credentials are renewed at the default too', async () => {
  await connect('renewed', {
    type: 'OAUTH2',
    access_token: 'stale',
    refresh_token: 'r',
    expires_at: '2020-01-01T00:00:00.000Z',
  });
  const read = await api.call('GET', '/connections/old?provider_config_key=renewed');
  expect(read.at('credentials.access_token')).toBe('fresh');
  expect(requests).toContain('POST /token');
});
