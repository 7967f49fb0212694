import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { openClient } from '#cli/context.ts';
import { DryConnections } from '#cli/dryrun/connections.ts';
import { Journal } from '#cli/dryrun/journal.ts';
import { providerCalls } from '#cli/dryrun/provider-calls.ts';

const answers: Readonly<Record<string, object>> = {
  '/svc/connections/acme?provider_config_key=crm': {
    connection_id: 'acme',
    provider: 'crm-api',
    connection_config: { region: 'eu' },
  },
  '/svc/providers/crm-api': { data: { name: 'crm-api', proxy: { base_url: 'https://crm.test' } } },
};

it('sends the requests of a function below the path of the service', async () => {
  const asked: unknown[] = [];
  const server = createServer(({ url = '', method, headers }, response) => {
    asked.push([method, url, headers['svc-proxy-x-own']]);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[url] ?? { items: [] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}/svc`;
    const client = openClient({ host, secretKey: 'k', version: '1.0.0' });
    const { http } = providerCalls(
      {
        client,
        connections: new DryConnections(client),
        journal: new Journal(),
        say: () => undefined,
        signal: new AbortController().signal,
      },
      { integrationKey: 'crm', connectionId: 'acme' },
    );
    const call = {
      method: 'GET',
      endpoint: '/${connectionConfig.region}/items',
      params: { page: '2' },
      headers: { 'x-own': 'mine' },
      body: { kind: 'none' },
      bodyAs: 'text',
    };
    expect(await http?.(JSON.stringify(call))).toMatchObject({ body: '{"items":[]}' });
    expect(asked).toEqual([
      ['GET', '/svc/connections/acme?provider_config_key=crm', undefined],
      ['GET', '/svc/providers/crm-api', undefined],
      ['GET', '/svc/proxy/eu/items?page=2', 'mine'],
    ]);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
