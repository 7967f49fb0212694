import { randomUUID } from 'node:crypto';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo, type CommandRequest } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { connectionsOfIntegration } from '#modules/connections/connections/queries.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import type { RecordAccess } from '#modules/records/services.ts';
import type { Coordination } from '#ports/coordination.ts';
import { areSyncsCurrent, reconcileSyncInstances } from '../syncs/reconcile.ts';
import { breakingChanges, changesOf, type FunctionChange } from './changes.ts';
import {
  deployedParts,
  integrationsNamed,
  sentIdentity,
  withFiles,
  type DeployBody,
  type PreviewBody,
} from './deploy-body.ts';
import {
  checkChangedModels,
  checkFunctions,
  checkModelOwners,
  checkStandalone,
  checkSyncCounts,
  isInScope,
} from './deploy-rules.ts';
import { functionRef, functionEntity } from './entity.ts';
import type { DeployedFunction, DeployedParts } from './function.ts';
import type { DeployPlan } from './presenter.ts';
import { findFunction, listFunctions } from './queries.ts';
import type { FindRecordReaders } from './record-readers.ts';

/** Functions are renamed and deleted with their integration. */
export const functionsOfIntegrations = ({
  view,
}: Pick<ControlPlane, 'view'>): IntegrationDependents => ({
  refuseMove: () => undefined,
  moves: ({ environmentUid, uniqueKey }, target) =>
    view.list(functionEntity, [environmentUid, uniqueKey]).flatMap(({ ref, state }) => [
      commandTo(ref, { type: 'Leave' }),
      commandTo(functionRef(environmentUid, target, state.kind, state.name), {
        type: 'Arrive',
        deployed: { ...state, integrationKey: target },
      }),
    ]),
  removals: ({ environmentUid, uniqueKey }) =>
    view
      .list(functionEntity, [environmentUid, uniqueKey])
      .map(({ ref }) => commandTo(ref, { type: 'Delete' })),
});

/** A deployment and its conditions. */
interface DeployWork {
  readonly body: DeployBody;
  /** Standalone: it does not change functions of projects. */
  readonly isStandalone?: true;
  /** Throws if the plan must not be executed. */
  readonly approve?: (plan: DeployPlan) => void;
  /** Decided together with the functions. */
  readonly along?: readonly CommandRequest[];
}

interface Update {
  readonly parts: DeployedParts;
  readonly changes: readonly FunctionChange[];
}

/** The effects of a deployment, in domain terms. */
interface Difference {
  readonly created: readonly DeployedParts[];
  readonly updated: readonly Update[];
  readonly unchanged: readonly DeployedParts[];
  readonly deleted: readonly DeployedFunction[];
  readonly deletedModels: readonly string[];
}

/**
 * The plan of `deployFunctions`.
 * @throws GatewayError `integration_not_found`, `missing_required_fields_on_deploy`, `invalid_body`, …
 */
async function planDeployment(
  deps: PlanDeps,
  environmentUid: string,
  body: DeployBody,
): Promise<DeployPlan> {
  const difference = await differenceOf(deps.control, environmentUid, { body });
  return presentPlan(deps, environmentUid, difference);
}

/**
 * Lease for the decision, which takes seconds. The following steps may take longer and overlap with another's, because
 * they are idempotent.
 */
const leaseMs = 120_000;

interface PlanDeps {
  readonly control: ControlPlane;
  readonly recordReaders: FindRecordReaders;
}

interface DeployDeps extends PlanDeps {
  readonly coordination: Coordination;
  /** Creates, changes and deletes the syncs of the connections; idempotent. */
  readonly reconcileSyncs: (integrationKeys: readonly string[]) => Promise<void>;
}

/**
 * Brings the functions within the scope to what the body says: all of it or nothing. The syncs of the
 * connections follow, also when an earlier deployment was cut off before that.
 * @throws GatewayError as `planDeployment`; `concurrent_deployment`; `invalid_request`: a standalone function would
 *   replace a project's; what `approve` throws
 */
export async function deployFunctions(
  deps: DeployDeps,
  environmentUid: string,
  task: DeployWork,
  options: ExecuteOptions,
): Promise<DeployPlan> {
  const { control, coordination } = deps;
  const lease = await coordination.acquire(`deploy/${environmentUid}`, {
    ttlMs: leaseMs,
    token: randomUUID(),
  });
  if (lease === null) throw new GatewayError('concurrent_deployment');
  try {
    await control.view.caughtUp();
    const difference = await differenceOf(control, environmentUid, task);
    const plan = presentPlan(deps, environmentUid, difference);
    task.approve?.(plan);
    const commands = [...commandsOf(environmentUid, difference), ...(task.along ?? [])];
    if (commands.length > 0) await control.askAll(commands, options);
    await deps.reconcileSyncs(touchedIntegrations(task.body, difference));
    return plan;
  } finally {
    await coordination.release(lease);
  }
}

async function differenceOf(
  control: ControlPlane,
  environmentUid: string,
  { body, isStandalone }: DeployWork,
): Promise<Difference> {
  const { reconciliationScope: scope, functions } = body;
  const wanted = functions.map((sent) => deployedParts(environmentUid, sent, isStandalone));
  checkFunctions(scope, wanted);
  for (const key of new Set([
    ...integrationsNamed(scope),
    ...wanted.map(({ integrationKey }) => integrationKey),
  ])) {
    await requireIntegration(control, environmentUid, key, { code: 'integration_not_found' });
  }
  const present = new Map(
    listFunctions(control, environmentUid).map((one) => [keyOf(one), one] as const),
  );
  for (const parts of isStandalone === true ? wanted : []) {
    checkStandalone(present.get(keyOf(parts)) ?? null);
  }
  const kept = new Set(wanted.map(keyOf));
  const deleted = [...present.values()].filter(
    (one) => one.isStandalone !== true && isInScope(scope, one) && !kept.has(keyOf(one)),
  );
  const isGone = new Set(deleted.map(keyOf));
  const others = [...present.values()].filter(
    (one) => !kept.has(keyOf(one)) && !isGone.has(keyOf(one)),
  );
  const after = [...others, ...wanted];
  checkChangedModels(after);
  const syncsAfter = after.filter(({ kind }) => kind === 'sync');
  checkSyncCounts(syncsAfter);
  checkModelOwners(syncsAfter);
  const before = (parts: DeployedParts) => present.get(keyOf(parts));
  return {
    created: wanted.filter((parts) => before(parts) === undefined),
    updated: wanted.flatMap((parts) => {
      const was = before(parts);
      if (was === undefined || was.contentHash === parts.contentHash) return [];
      return [{ parts, changes: changesOf(was, parts) }];
    }),
    unchanged: wanted.filter((parts) => before(parts)?.contentHash === parts.contentHash),
    deleted,
    deletedModels: modelsLost([...present.values()], syncsAfter),
  };
}

type FunctionIdentity = Pick<DeployedParts, 'integrationKey' | 'kind' | 'name' | 'models'>;

const keyOf = ({ integrationKey, kind, name }: FunctionIdentity): string =>
  `${integrationKey}\n${kind}\n${name}`;

/** Models that a sync has now and no sync of the integration will have. */
function modelsLost(
  before: readonly FunctionIdentity[],
  after: readonly FunctionIdentity[],
): string[] {
  const left = new Set(
    after.flatMap(({ integrationKey, models }) =>
      models.map((model) => `${integrationKey}\n${model}`),
    ),
  );
  const lost = before
    .filter(({ kind }) => kind === 'sync')
    .flatMap(({ integrationKey, models }) =>
      models.filter((model) => !left.has(`${integrationKey}\n${model}`)),
    );
  return [...new Set(lost)].sort();
}

function commandsOf(environmentUid: string, difference: Difference): CommandRequest[] {
  const refOf = ({ integrationKey, kind, name }: FunctionIdentity) =>
    functionRef(environmentUid, integrationKey, kind, name);
  return [
    ...difference.deleted.map((one) => commandTo(refOf(one), { type: 'Delete' })),
    ...[...difference.created, ...difference.updated.map(({ parts }) => parts)].map((parts) =>
      commandTo(refOf(parts), { type: 'Deploy', parts }),
    ),
  ];
}

function touchedIntegrations(
  { functions, reconciliationScope }: DeployBody,
  { deleted }: Difference,
): string[] {
  const sent = functions.map((one) => sentIdentity(one).integrationKey);
  const scoped = integrationsNamed(reconciliationScope);
  return [...new Set([...sent, ...scoped, ...deleted.map((one) => one.integrationKey)])];
}

function presentPlan(
  { control, recordReaders }: PlanDeps,
  environmentUid: string,
  difference: Difference,
): DeployPlan {
  const counts = new Map<string, number>();
  const connections = (key: string): number => {
    const existing = counts.get(key);
    if (existing !== undefined) return existing;
    const live = connectionsOfIntegration(control, environmentUid, key).filter(
      ({ isDeleting }) => !isDeleting,
    );
    counts.set(key, live.length);
    return live.length;
  };
  const items = (
    functions: readonly (FunctionIdentity & { readonly autoStart: boolean })[],
  ): DeployPlan['created'] =>
    functions.map(({ integrationKey, name, kind, autoStart }) => ({
      integrationId: integrationKey,
      name,
      type: kind,
      connections: connections(integrationKey),
      auto_start: autoStart,
    }));
  return {
    created: items(difference.created),
    updated: difference.updated.flatMap(({ parts, changes }) =>
      items([parts]).map((item) => ({ ...item, changes })),
    ),
    unchanged: items(difference.unchanged),
    deleted: items(difference.deleted),
    deletedModels: difference.deletedModels,
    breaking: difference.updated.flatMap(({ parts: { kind, name, integrationKey }, changes }) =>
      breakingChanges(kind, changes).map(({ model, fields }) => ({
        integrationId: integrationKey,
        function: name,
        model: model ?? '',
        fields,
        readers: recordReaders(environmentUid, integrationKey, model ?? ''),
      })),
    ),
  };
}

interface Deps {
  readonly control: ControlPlane;
  readonly coordination: Coordination;
  readonly records: RecordAccess;
  readonly recordReaders: FindRecordReaders;
}

/** Timeout: many functions are decided together, after earlier commands of the owner. */
const deployTimeoutMs = 60_000;

/**
 * What a deployment would do; `syncs_pending`: an earlier one was cut off before the syncs of the connections
 * followed, which the next one makes up for.
 * @throws GatewayError as `planDeployment`
 */
export async function previewDeployment(
  services: { readonly control: ControlPlane; readonly recordReaders: FindRecordReaders },
  environmentUid: string,
  body: PreviewBody,
): Promise<DeployPlan & { readonly syncs_pending: boolean }> {
  const { control } = services;
  await control.view.caughtUp();
  const whole = withFiles(body, (sent) => {
    const { integrationKey, name } = sentIdentity(sent);
    return findFunction(control, environmentUid, integrationKey, sent.type, name);
  });
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
  { control, records }: { readonly control: ControlPlane; readonly records: RecordAccess },
  environmentUid: string,
  integrationKeys: readonly string[],
  actor: string,
): Promise<void> {
  const deps = { control, records: records.writer };
  return reconcileSyncInstances(deps, environmentUid, integrationKeys, actor);
}
