import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createMessageServer } from '#http/message-server.ts';
import { isLoopbackHost } from '#http/same-origin.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { DemoApi } from '#modules/extensions/demo/api.ts';
import { demoDefinitions } from '#modules/extensions/demo/definitions.ts';
import type { DemoProvider } from '#modules/operations/services.ts';
import type { Config } from '../config/config.ts';
import type { ProcessContext } from '../process/process-context.ts';

/** Whether only this machine can reach the gateway, and its data is in its own folder. */
export const isOnlyLocal = ({ host, logUrl, publicUrl }: Config): boolean =>
  logUrl.kind === 'embedded' && isLoopbackHost(host) && publicUrl === null;

interface OpenedDemo {
  readonly demo: DemoProvider | null;
  readonly providers: ProviderCatalogue;
  /** `host:port` that the egress guard must let through. */
  readonly allow: readonly string[];
}

/** Listens as the demo provider, whose code is loaded on the first request. */
export async function openDemo(
  stack: AsyncDisposableStack,
  { config, clock, logger }: Pick<ProcessContext, 'config' | 'clock' | 'logger'>,
  services: {
    readonly vault: Vault;
    readonly providers: ProviderCatalogue;
    readonly gatewayUrl: () => string;
  },
): Promise<OpenedDemo> {
  const { vault, providers, gatewayUrl } = services;
  const isWanted = config.demo === 'yes' && config.roles.has('api') && isOnlyLocal(config);
  if (!isWanted) return { demo: null, providers, allow: [] };
  const hash = (purpose: string, text: string): string => vault.fingerprint(purpose, text);
  const clientSecret = hash('demo-client', 'secret');
  let api: Promise<DemoApi> | null = null;
  const { server } = createMessageServer({
    onRequest(request, response) {
      api ??= loadApi();
      const answered = api.then((loaded) => loaded.handle(request, response));
      answered.catch((error: unknown) => {
        logger.warn({ err: error }, 'the demo provider failed');
        response.destroy();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${hostPort}`;
  const loadApi = async (): Promise<DemoApi> => {
    const loaded = await import('#modules/extensions/demo/api.ts');
    return new loaded.DemoApi({ clock, hash, clientSecret, url, gatewayUrl });
  };
  return { demo: { clientSecret }, providers: withDemo(providers, url), allow: [hostPort] };
}

/** The catalog with the demo provider; entries of the operator stay. */
function withDemo(providers: ProviderCatalogue, url: string): ProviderCatalogue {
  const added = demoDefinitions(url).filter(({ name }) => providers.find(name) === null);
  const all = [...providers.all(), ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(added.map((one) => [one.name, one] as const));
  return { find: (name) => byName.get(name) ?? providers.find(name), all: () => all };
}
