/**
 * Before a project's tests: offers each worker one gateway for all of its files, started when a file first asks.
 * `sharedGateway` leads there.
 */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '#test/services/ports.ts';
import { definitionsOf } from '../fakes/fake-provider.ts';
import { startGateway, type RunningGateway } from '../processes/gateway.ts';

const urlVariable = 'SVC_TEST_SHARED_GATEWAYS';

/** A gateway that the files of one worker use one after the other. */
export type SharedGateway = Pick<RunningGateway, 'url' | 'key' | 'prodKey' | 'accountKey'> & {
  /** Where its definitions lead: a test file opens its fake provider there. */
  readonly providerPort: number;
};

/** The gateway of this worker. */
export async function sharedGateway(): Promise<SharedGateway> {
  const keeper = process.env[urlVariable];
  if (keeper === undefined) throw new Error('Only files of the project system share a gateway.');
  const response = await fetch(`${keeper}/${process.env['VITEST_POOL_ID'] ?? ''}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as SharedGateway;
}

interface Started {
  readonly gateway: RunningGateway;
  readonly shared: SharedGateway;
}

export default async function setup(): Promise<() => Promise<void>> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-shared-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const gateways = new Map<string, Promise<Started>>();
  stack.defer(async () => {
    const stops = [...gateways.values()].map(async (starting) => (await starting).gateway.stop());
    await Promise.all(stops);
  });
  const server = createServer((request, response) => {
    const worker = (request.url ?? '/').slice(1);
    const starting = gateways.get(worker) ?? start(join(folder, worker));
    gateways.set(worker, starting);
    starting.then(
      ({ shared }) => response.end(JSON.stringify(shared)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  process.env[urlVariable] = `http://127.0.0.1:${port}`;
  const opened = stack.move();
  return () => opened.disposeAsync();
}

async function start(folder: string): Promise<Started> {
  const providerPort = await freePort();
  const providers = `${folder}-providers.json`;
  const definitions = definitionsOf({ url: `http://127.0.0.1:${providerPort}` });
  await writeFile(providers, JSON.stringify(definitions));
  const env = { SVC_PROVIDERS: providers, SVC_EGRESS_ALLOW: '127.0.0.0/8' };
  const gateway = await startGateway({ dataDir: folder, env });
  const { url, key, prodKey, accountKey } = gateway;
  return { gateway, shared: { url, key, prodKey, accountKey, providerPort } };
}
