import { openRegistrySchemas } from '#adapters/event-log/registry/open.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { schemasContract } from './schemas.contract.ts';

schemasContract('registry', {
  async begin() {
    const [url, prefix] = [serviceUrl('registry'), ownPrefix()];
    const clients = new Map<unknown, ReturnType<typeof openRegistrySchemas>>();
    return {
      open: async (schemasFolder) => {
        const client = openRegistrySchemas({ url, prefix, schemasFolder });
        clients.set(client, client);
        return client;
      },
      arrive: async (client, bytes) => clients.get(client)?.load([bytes]),
      [Symbol.asyncDispose]: async () => clients.clear(),
    };
  },
});
