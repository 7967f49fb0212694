import type { ExecuteOptions } from '../../../control-plane/control-plane.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { reconcileSyncInstances } from '../syncs/reconcile.ts';
import { deployFunctions, type DeployPlan, type DeployWork } from './deploy.ts';
import { functionRef } from './entity.ts';
import type { DeployedFunction } from './state.ts';
import type { FunctionsServices } from '../services.ts';

type Deps = Pick<FunctionsServices, 'control' | 'coordination' | 'records'>;

/** Timeout: many functions are decided together, after earlier commands of the owner. */
const deployTimeoutMs = 60_000;

/**
 * Deploys, and reconciles the syncs of the connections.
 * @throws GatewayError as `deployFunctions`
 */
export async function deployWithSyncs(
  services: Deps,
  environmentUid: string,
  task: DeployWork,
  options: ExecuteOptions,
): Promise<DeployPlan> {
  const { control, coordination } = services;
  const reconcileSyncs = (integrationKeys: readonly string[]) =>
    reconcile(services, environmentUid, integrationKeys, options.actor);
  const deps = { control, coordination, reconcileSyncs };
  return deployFunctions(deps, environmentUid, task, { timeoutMs: deployTimeoutMs, ...options });
}

/**
 * Removes a standalone function, a sync with its schedules and records.
 * @throws GatewayError `function_managed_by_deploy`
 */
export async function deleteFunction(
  services: Deps,
  deployed: DeployedFunction,
  options: ExecuteOptions,
): Promise<void> {
  // The next deployment of the project would recreate its function.
  if (deployed.isStandalone !== true) throw new GatewayError('function_managed_by_deploy');
  const { environmentUid, integrationKey, kind, name } = deployed;
  const ref = functionRef(environmentUid, integrationKey, kind, name);
  await services.control.execute(ref, { type: 'Delete' }, options);
  if (kind === 'sync') await reconcile(services, environmentUid, [integrationKey], options.actor);
}

function reconcile(
  { control, records }: Deps,
  environmentUid: string,
  integrationKeys: readonly string[],
  actor: string,
): Promise<void> {
  const deps = { control, records: records.writer };
  return reconcileSyncInstances(deps, environmentUid, integrationKeys, actor);
}
