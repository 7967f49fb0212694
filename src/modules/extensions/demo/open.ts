import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createMessageServer } from '#http/message-server.ts';
import type { AddedProviders, ProviderServices } from '../extension.ts';
import type { DemoApi } from './api.ts';
import { demoClientSecret, demoDefinitions } from './definitions.ts';

/** Listens as the demo provider, whose code is loaded on the first request. */
export async function openDemo(
  stack: AsyncDisposableStack,
  { vault, clock, logger, gatewayUrl }: ProviderServices,
): Promise<AddedProviders> {
  const hash = (purpose: string, text: string): string => vault.fingerprint(purpose, text);
  const clientSecret = demoClientSecret(vault);
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
    const loaded = await import('./api.ts');
    return new loaded.DemoApi({ clock, hash, clientSecret, url, gatewayUrl });
  };
  return { definitions: demoDefinitions(url), allow: [hostPort] };
}
