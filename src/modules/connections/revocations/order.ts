import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext } from '#modules/access/vault/vault.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { Connection } from '../connections/state.ts';
import { modeContext } from '../credentials/mode-context.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { integrationRef } from '../integrations/entity.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import { beginOperation } from './log.ts';
import { revocationRequest, type RevocationRequest } from './request.ts';
import type { RevocationOrder } from './revocation.ts';

export interface OrderDeps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logs: OperationLogs;
  readonly logger: Logger;
}

/**
 * The revocation that the integration asks for, under a key made for it; null: none. Asks no provider, and never fails:
 * what cannot be revoked is deleted all the same, and the log of operations says why it was not.
 */
export async function revocationOrder(
  deps: OrderDeps,
  connection: Connection,
): Promise<RevocationOrder | null> {
  const { environmentUid, integrationKey, connectionId, uid: connectionUid, provider } = connection;
  // Also while the integration is being deleted.
  const integration = deps.control.view.find(integrationRef(environmentUid, integrationKey));
  const isWanted = integration?.revokeOnDisconnect === true && !connection.isDeleting;
  // A connection that functions refused was never one: another with the same account may be in use.
  if (!isWanted || connection.validating?.isNew === true) return null;
  const uid = randomUUID();
  const target = { uid, environmentUid, integrationKey, connectionId, connectionUid, provider };
  try {
    const request = await requestOf(deps, connection, integration);
    if (request === null) return null;
    await deps.vault.create(uid);
    const context = sealingContext(environmentUid, uid, 'revocation');
    return { ...target, request: deps.vault.seal(uid, request, context) };
  } catch (error) {
    deps.logger.warn({ err: error, connectionUid }, 'a connection is deleted without a revocation');
    const message = error instanceof GatewayError ? error.message : 'The call could not be made.';
    beginOperation(deps, target).end('failed', message);
    return null;
  }
}

async function requestOf(
  deps: OrderDeps,
  connection: Connection,
  integration: Parameters<typeof modeContext>[1],
): Promise<RevocationRequest | null> {
  const provider = deps.providers.find(connection.provider);
  if (provider?.revocation === undefined) return null;
  const credentials = await openCredentials(deps.vault, connection);
  const config = await openConnectionConfig(deps.vault, connection);
  return revocationRequest(await modeContext(deps, integration, provider, config), credentials);
}
