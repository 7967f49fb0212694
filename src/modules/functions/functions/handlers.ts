import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { FunctionsServices } from '../services.ts';
import { areSyncsCurrent, reconcileSyncInstances } from '../syncs/reconcile.ts';
import { withFiles, type PreviewBody } from './deploy-body.ts';
import { deployFunctions, planDeployment, type DeployWork } from './deploy.ts';
import { functionRef } from './entity.ts';
import type { DeployedFunction } from './function.ts';
import type { DeployPlan } from './presenter.ts';
import { findFunction } from './queries.ts';

type Deps = Pick<FunctionsServices, 'control' | 'coordination' | 'records' | 'recordReaders'>;

/** Timeout: many functions are decided together, after earlier commands of the owner. */
const deployTimeoutMs = 60_000;

/**
 * What a deployment would do; `syncs_pending`: an earlier one was cut off before the syncs of the connections
 * followed, which the next one makes up for.
 * @throws GatewayError as `planDeployment`
 */
export async function previewDeployment(
  services: Pick<Deps, 'control' | 'recordReaders'>,
  environmentUid: string,
  body: PreviewBody,
): Promise<DeployPlan & { readonly syncs_pending: boolean }> {
  const { control } = services;
  await control.view.caughtUp();
  const whole = withFiles(body, (sent) =>
    sent.type === 'on-event'
      ? findFunction(control, environmentUid, sent.integrationId, sent.type, sent.name)
      : findFunction(control, environmentUid, sent.providerConfigKey, sent.type, sent.syncName),
  );
  const plan = await planDeployment(services, environmentUid, whole);
  const keys = new Set(plan.unchanged.map(({ integrationId }) => integrationId));
  return {
    ...plan,
    syncs_pending: ![...keys].every((key) => areSyncsCurrent(control, environmentUid, key)),
  };
}

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
  const reconcileSyncs = (integrationKeys: readonly string[]) =>
    reconcile(services, environmentUid, integrationKeys, options.actor);
  const deps = { ...services, reconcileSyncs };
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
  { control, records }: Pick<Deps, 'control' | 'records'>,
  environmentUid: string,
  integrationKeys: readonly string[],
  actor: string,
): Promise<void> {
  const deps = { control, records: records.writer };
  return reconcileSyncInstances(deps, environmentUid, integrationKeys, actor);
}
