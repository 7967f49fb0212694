import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
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

/** The service that answers, and a request of a function to it. */
async function serve(answer: RequestListener): Promise<AsyncDisposable & { request(): unknown }> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `http://127.0.0.1:${(server.address() as AddressInfo).port}/svc`;
  const client = openClient({ host, secretKey: 'k', version: '1.0.0' });
  const { http } = providerCalls(
    {
      client,
      connections: new DryConnections(client),
      journal: new Journal(),
      say: (_, message) => messages.push(message),
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
  return {
    request: () => http?.(JSON.stringify(call)),
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const messages: string[] = [];
beforeEach(() => {
  messages.length = 0;
});

it('sends the requests of a function below the path of the service', async () => {
  const asked: unknown[] = [];
  await using service = await serve(({ url = '', method, headers }, response) => {
    asked.push([method, url, headers['svc-proxy-x-own']]);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answers[url] ?? { items: [] }));
  });
  expect(await service.request()).toMatchObject({ body: '{"items":[]}' });
  expect(asked).toEqual([
    ['GET', '/svc/connections/acme?provider_config_key=crm', undefined],
    ['GET', '/svc/providers/crm-api', undefined],
    ['GET', '/svc/proxy/eu/items?page=2', 'mine'],
  ]);
});

it('waits for the limit of the provider, as a function of the service does', async () => {
  let calls = 0;
  await using service = await serve(({ url = '' }, response) => {
    const known = answers[url];
    if (known === undefined) calls += 1;
    const isRefused = known === undefined && calls === 1;
    const status = isRefused ? 429 : 200;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '1' });
    const refusal = { error: { code: 'provider_limit_reached', message: 'The limit is reached.' } };
    response.end(JSON.stringify(isRefused ? refusal : (known ?? { items: [] })));
  });
  expect(await service.request()).toMatchObject({ body: '{"items":[]}' });
  expect(calls).toBe(2);
  expect(messages[0]).toBe('The request waits 1 s for the limit of the provider.');
});
