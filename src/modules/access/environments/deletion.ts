import type { ExecuteOptions } from '../../../control-plane/control-plane.ts';
import type { Services } from '../../../http/services.ts';
import { deleteConnection } from '../../connections/connections/deletion.ts';
import type { Connection } from '../../connections/connections/state.ts';
import { finishIntegrationDeletion } from '../../connections/integrations/handlers.ts';
import type { Integration } from '../../connections/integrations/state.ts';
import { environmentRef } from './entity.ts';
import type { Environment } from './state.ts';

type Deps = Pick<Services, 'control' | 'vault' | 'records' | 'clock'>;

/**
 * Deletes an environment with everything in it. From the first step on it is gone for readers.
 * @throws GatewayError `cannot_delete_prod_environment`, `unknown_environment`
 */
export async function deleteEnvironment(
  deps: Deps,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<void> {
  await deps.control.execute(environmentRef(environmentUid), { type: 'MarkDeleting' }, options);
  await finishEnvironmentDeletion(deps, environmentUid, options);
}

async function finishEnvironmentDeletion(
  deps: Deps,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<void> {
  const { control, vault } = deps;
  for (const kind of ['api-key', 'variable', 'webhook-endpoint'] as const) {
    const commands = control.view
      .list(kind, [environmentUid])
      .map(({ ref }) => ({ ref, body: { type: 'Delete' } }));
    if (commands.length > 0) await control.askAll(commands, options);
  }
  for (const { ref, state } of control.view.list<Integration>('integration', [environmentUid])) {
    await control.execute(ref, { type: 'MarkDeleting' }, options);
    await finishIntegrationDeletion(deps, environmentUid, state.uniqueKey, options);
  }
  for (const { state } of control.view.list<Connection>('connection', [environmentUid])) {
    await deleteConnection(deps, state, options);
  }
  await vault.shred(environmentUid);
  await control.execute(environmentRef(environmentUid), { type: 'Delete' }, options);
}

/**
 * Finishes deletions that a crash interrupted; called at the start and now and then. Connections that were
 * made while their integration was being deleted are removed as well.
 */
export async function resumeDeletions(deps: Deps): Promise<void> {
  const { view } = deps.control;
  const options = { actor: 'system' };
  for (const { state } of view.listBy<Environment>('environment', 'deleting', 'yes')) {
    await finishEnvironmentDeletion(deps, state.uid, options);
  }
  for (const { state } of view.listBy<Integration>('integration', 'deleting', 'yes')) {
    await finishIntegrationDeletion(deps, state.environmentUid, state.uniqueKey, options);
  }
  for (const { state } of view.listBy<Connection>('connection', 'deleting', 'yes')) {
    await deleteConnection(deps, state, options);
  }
}
