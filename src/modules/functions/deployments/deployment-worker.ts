import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { SharedValues } from '#modules/access/services.ts';
import type { RecordAccess } from '#modules/records/services.ts';
import { compileSource } from '../functions/compile-source.ts';
import { deployBody, type DeployBody } from '../functions/deploy-body.ts';
import { deployWithSyncs } from '../functions/handlers.ts';
import type { DeployPlan } from '../functions/presenter.ts';
import type { FindRecordReaders } from '../functions/record-readers.ts';
import type { Deployment, DeploymentFailure } from './deployment.ts';
import { deploymentEntity, deploymentRef, type DeploymentEntity } from './entity.ts';

interface Deps extends SharedValues {
  readonly control: ControlPlane;
  readonly records: RecordAccess;
  readonly recordReaders: FindRecordReaders;
}

/** Waits for another deployment of the environment, or for other compilations. */
const waitedFor: readonly string[] = ['concurrent_deployment', 'execution_environment_unavailable'];
const triesMax = 30;
const tryAgainMs = 1_000;

/** Executes queued deployments sequentially; several nodes share them. */
export function startDeploymentWorker(deps: Deps): AsyncDisposable {
  const { control, logger } = deps;
  const ending = new AbortController();
  let working: Promise<void> = Promise.resolve();
  const takeUp = (deployment: Deployment): void => {
    if (deployment.status !== 'waiting') return;
    working = working
      .then(() =>
        ending.signal.aborted ? undefined : runDeployment(deps, deployment, ending.signal),
      )
      .catch((err: unknown) =>
        logger.warn({ err, deployment: deployment.id }, 'a deployment was left'),
      );
  };
  const stop = control.view.onChange([deploymentEntity], (changed) => {
    for (const ref of changed) {
      const found = control.view.find(ref);
      if (found !== null) takeUp(found);
    }
  });
  for (const { state } of control.view.list(deploymentEntity, [])) takeUp(state);
  return {
    async [Symbol.asyncDispose]() {
      stop();
      ending.abort();
      await working;
    },
  };
}

async function runDeployment(
  deps: Deps,
  deployment: Deployment,
  ending: AbortSignal,
): Promise<void> {
  const token = randomUUID();
  const ref = deploymentRef(deployment.environmentUid, deployment.id);
  const publish = (body: CommandOf<DeploymentEntity>) =>
    deps.control.execute(ref, body, { actor: deployment.actor });
  const started = await publish({ type: 'Start', token });
  if (started?.token !== token) return;
  // By then its owner has ended it, and others wait.
  const late = AbortSignal.timeout(limits.deploymentMs);
  try {
    await deploy(deps, started, token, AbortSignal.any([ending, late]));
    await publish({ type: 'Succeed', token });
  } catch (error) {
    if (ending.aborted) await publish({ type: 'Release', token });
    else if (!late.aborted)
      await publish({ type: 'Fail', token, error: deploymentFailure(deps, error) });
  }
}

/** @throws GatewayError if nothing was deployed */
async function deploy(
  deps: Deps,
  deployment: Deployment,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  const { environmentUid, actor } = deployment;
  const body = await trying(signal, () => compiled(deployment, signal));
  const version = body.functions[0]?.version ?? '';
  const ref = deploymentRef(environmentUid, deployment.id);
  const applied = commandTo(ref, { type: 'Apply', token, version });
  const approve = (plan: DeployPlan): void => {
    if (!deployment.allowsDestructive) refuseLosses(plan);
  };
  const task = { body, isStandalone: true, approve, along: [applied] } as const;
  await trying(signal, () => deployWithSyncs(deps, environmentUid, task, { actor }));
}

/** The body that deploys the function. */
async function compiled(deployment: Deployment, signal: AbortSignal): Promise<DeployBody> {
  const { environmentUid, integrationKey, functionName: name, functionType: kind } = deployment;
  const { version, code, imports = {} } = deployment;
  const order = { code, imports, target: { integrationKey, name, kind } };
  const { sent } = await compileSource(order, signal, { environmentUid });
  const parsed = deployBody.safeParse({
    reconciliationScope: { kind: 'function', integrationId: integrationKey, name, type: kind },
    functions: [version === null ? sent : { ...sent, version }],
  });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => {
    return `${path.slice(2).join('.')}: ${message}`;
  });
  throw new GatewayError('compilation_error', { message: problems.join('\n') });
}

async function trying<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
  for (let left = triesMax; ; left--) {
    try {
      return await task();
    } catch (error) {
      const isOver = !(error instanceof GatewayError) || !waitedFor.includes(error.code);
      if (isOver || left === 0) throw error;
      await pause(tryAgainMs, undefined, { signal });
    }
  }
}

/** @throws GatewayError `invalid_request` */
function refuseLosses({ deletedModels }: DeployPlan): void {
  if (deletedModels.length === 0) return;
  throw new GatewayError('invalid_request', {
    message: `The records of ${deletedModels.join(', ')} would be deleted: send allow_destructive to confirm.`,
    fix: 'Send allow_destructive if these records may be deleted.',
  });
}

function deploymentFailure({ logger }: Deps, error: unknown): DeploymentFailure {
  if (error instanceof GatewayError) {
    const { code, message, details } = error;
    return { code, message, ...(details.fix === undefined ? {} : { fix: details.fix }) };
  }
  logger.error({ err: error }, 'a deployment failed unexpectedly');
  return { code: 'server_error', message: 'The deployment failed unexpectedly.' };
}
