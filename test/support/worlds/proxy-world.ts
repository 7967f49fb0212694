import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startGateway, type RunningGateway } from '../processes/gateway.ts';
import { succeeded } from './crm-world.ts';

/** A gateway whose only connection leads to an upstream, with credentials that it puts in. */
export interface ProxyWorld extends AsyncDisposable {
  readonly gateway: RunningGateway;
  /** What a call through the proxy sends. */
  readonly headers: Readonly<Record<string, string>>;
}

export const injected = 'Bearer key-of-the-connection';

/** @param env beside what the upstream needs */
export async function openProxyWorld(
  folder: string,
  upstream: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ProxyWorld> {
  const definition = {
    display_name: 'Upstream',
    categories: [],
    docs: 'https://docs.example',
    auth_mode: 'API_KEY',
    credentials: { apiKey: { type: 'string', title: 'Key', description: 'A key.' } },
    proxy: { base_url: upstream, headers: { authorization: 'Bearer ${apiKey}' } },
  };
  const providers = join(folder, 'providers.json');
  await writeFile(providers, JSON.stringify({ upstream: definition }));
  const allowed = { SVC_PROVIDERS: providers, SVC_EGRESS_ALLOW: new URL(upstream).host };
  const gateway = await startGateway({ env: { ...allowed, ...env } });
  const integration = { provider: 'upstream', unique_key: 'upstream' };
  succeeded(await gateway.call('POST', '/integrations', { body: integration }));
  const connection = {
    provider_config_key: 'upstream',
    connection_id: 'c',
    credentials: { type: 'API_KEY', apiKey: injected.slice('Bearer '.length) },
  };
  succeeded(await gateway.call('POST', '/connections', { body: connection }));
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'provider-config-key': 'upstream',
    'connection-id': 'c',
  };
  return { gateway, headers, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
}
