import type { JsonObject } from '#kernel/stable-json.ts';
import { writeMetadata } from '#modules/connections/connections/handlers.ts';
import { presentConnection } from '#modules/connections/connections/presenter.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { openIntegrationCredentials } from '#modules/connections/credentials/sealing.ts';
import { presentIntegrationCredentials } from '#modules/connections/integrations/credentials.ts';
import { presentIntegration, webhookUrlOf } from '#modules/connections/integrations/presenter.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import type { FunctionsServices } from '../../services.ts';
import type { RunConnections } from './deps.ts';

export type RunConnectionsDeps = Pick<
  FunctionsServices,
  'control' | 'vault' | 'providers' | 'settings' | 'openedConnections'
>;

/** The connections that a run may use: its own, and others of its environment. */
export function createRunConnections(
  deps: RunConnectionsDeps,
  scope: {
    readonly environmentUid: string;
    readonly connection: Connection;
    readonly actor: string;
  },
): RunConnections {
  const { control, vault, providers, settings, openedConnections } = deps;
  const { environmentUid, connection: own, actor } = scope;

  const write = (how: 'replace' | 'merge') => (metadata: JsonObject) => {
    const { integrationKey, connectionId } = own;
    const wanted = { environmentUid, integrationKey, connectionIds: [connectionId], metadata, how };
    return writeMetadata({ control, vault }, wanted, { actor });
  };

  return {
    async open({ integrationKey, connectionId }, { forceRefresh, refreshToken, rejectedVersion }) {
      const name = { environmentUid, integrationKey, connectionId };
      await requireConnection(control, environmentUid, integrationKey, connectionId);
      const isRefreshed = forceRefresh || rejectedVersion !== undefined;
      const { stored, ...opened } = isRefreshed
        ? await openedConnections.open(name, {
            isForced: forceRefresh,
            ...(rejectedVersion === undefined ? {} : { rejectedVersion }),
          })
        : await openedConnections.open(name);
      const view = { withCredentials: true, withRefreshToken: refreshToken };
      return {
        ...opened,
        version: stored.credentialsVersion,
        view: () => presentConnection(vault, stored, view),
      };
    },

    async integration(include) {
      const { integrationKey } = own;
      const { publicUrl } = settings;
      const integration = await requireIntegration(control, environmentUid, integrationKey);
      const provider = providers.find(integration.provider);
      const webhook = { webhook_url: webhookUrlOf(integration, provider, publicUrl) };
      const client = await openIntegrationCredentials(vault, integration);
      const credentials = { credentials: presentIntegrationCredentials(client) };
      return {
        ...presentIntegration(integration, publicUrl),
        ...(include.includes('webhook') ? webhook : {}),
        ...(include.includes('credentials') ? credentials : {}),
      };
    },

    setMetadata: write('replace'),
    updateMetadata: write('merge'),
  };
}
