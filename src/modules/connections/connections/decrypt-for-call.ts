import { expiringCache } from '#kernel/cache.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Clock } from '#kernel/time.ts';
import { environmentEntity } from '#modules/access/environments/entity.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import {
  openConnectionConfig,
  openCredentials,
  openIntegrationCredentials,
  openMetadata,
} from '../credentials/sealing.ts';
import { integrationEntity } from '../integrations/entity.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import { withDefaults } from '../providers/field-check.ts';
import { rateLimitOf, sharedLimitOf } from '../rate-limits/limit-of-call.ts';
import { connectionEntity } from './entity.ts';
import { isDue } from './freshness.ts';
import type { OpenedForCall, ConnectionName, OpenedConnections } from './opened-connections.ts';
import { requireConnection } from './queries.ts';
import type { FreshOptions, Refresher } from './refresher.ts';
import type { Connection } from './state.ts';

/**
 * Refreshes credentials that are due, then decrypts connection and integration.
 * @throws GatewayError `unknown_provider_config`, `unknown_provider`, `invalid_credentials`,
 *   `connection_refresh_backoff`, `connection_refresh_exhausted`
 */
export async function decryptForCall(
  deps: SealedEntities & { readonly providers: ProviderCatalogue; readonly refresher: Refresher },
  connection: Connection,
  options: FreshOptions = {},
): Promise<OpenedForCall> {
  const { control, vault, providers, refresher } = deps;
  const stored = await refresher.fresh(connection, options);
  const { environmentUid, integrationKey } = stored;
  const integration = await requireIntegration(control, environmentUid, integrationKey, {
    code: 'unknown_provider_config',
  });
  const provider = providers.find(stored.provider);
  if (provider === null) throw new GatewayError('unknown_provider');
  const client = await openIntegrationCredentials(vault, integration);
  return {
    provider,
    stored,
    connection: {
      credentials: stored.credentials === null ? null : await openCredentials(vault, stored),
      connectionConfig: withDefaults(provider, await openConnectionConfig(vault, stored)),
      metadata: await openMetadata(vault, stored),
    },
    integration: {
      clientId: client?.clientId,
      clientSecret: client?.clientSecret,
      integrationConfig: integration.integrationConfig,
    },
    limit: sharedLimitOf(rateLimitOf(integration.rateLimit, provider), stored),
  };
}

/** How long decrypted secrets stay in memory before the store is read again. */
const keptMs = 30_000;
const keptMax = 5_000;
const cachedKinds = [connectionEntity, integrationEntity, environmentEntity];

interface Deps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly refresher: Refresher;
  readonly clock: Clock;
}

/** Caches decrypted connections until they change, are due for a refresh, or expire. */
export function createDecryptedConnectionCache(deps: Deps): OpenedConnections {
  const kept = expiringCache<OpenedForCall>(keptMax, keptMs, deps.clock);
  /** What was read before a change must not be cached after it. */
  let changes = 0;
  const stop = deps.control.view.onChange(cachedKinds, (changed) => {
    for (const { kind, path } of changed) {
      changes += 1;
      if (kind === 'connection') kept.delete(joinKey(...path));
      else kept.clear();
    }
  });
  const openAnew = async (
    key: string,
    { environmentUid, integrationKey, connectionId }: ConnectionName,
    options: FreshOptions | undefined,
  ): Promise<OpenedForCall> => {
    const start = deps.clock.now();
    const changesBefore = changes;
    const connection = await requireConnection(
      deps.control,
      environmentUid,
      integrationKey,
      connectionId,
      {
        status: 400,
        integrationStatus: 404,
      },
    );
    const opened = await decryptForCall(deps, connection, options);
    if (changes === changesBefore) kept.set(key, opened, { start });
    return opened;
  };
  return {
    open(name, options) {
      const key = joinKey(name.environmentUid, name.integrationKey, name.connectionId);
      const existing = options === undefined ? kept.get(key) : undefined;
      if (existing === undefined) return openAnew(key, name, options);
      const isGood = !isDue(existing.stored, existing.provider, deps.clock.now());
      return isGood ? existing : openAnew(key, name, options);
    },
    [Symbol.dispose]() {
      stop();
      kept.clear();
    },
  };
}
