import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../http/services.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import { compileSource } from '../functions/compile-source.ts';
import type { DeployPlan } from '../functions/deploy.ts';
import { deployBody, type DeployBody } from '../functions/deploy-body.ts';
import { deployWithSyncs } from '../functions/handlers.ts';
import { deploymentRef } from './entity.ts';
import type { Deployment, DeploymentFailure } from './state.ts';

type Deps = Pick<Services, 'control' | 'coordination' | 'records' | 'logger'>;

/** Another deployment of the environment, or the compilations of others, are waited for. */
const waitedFor: readonly string[] = ['concurrent_deployment', 'execution_environment_unavailable'];
const triesMax = 30;
const tryAgainMs = 1_000;

/** Carries out queued deployments, one after the other; several nodes share them. */
export function keepDeploying(deps: Deps): AsyncDisposable {
  const { control, logger } = deps;
  const ending = new AbortController();
  let working: Promise<void> = Promise.resolve();
  const takeUp = (of: Deployment): void => {
    if (of.status !== 'waiting') return;
    working = working
      .then(() => (ending.signal.aborted ? undefined : carryOut(deps, of, ending.signal)))
      .catch((err: unknown) => logger.warn({ err, deployment: of.id }, 'a deployment was left'));
  };
  const stop = control.view.onChange((changed) => {
    for (const { kind, path } of changed) {
      const found = kind === 'deployment' ? control.view.find<Deployment>(kind, path) : null;
      if (found !== null) takeUp(found);
    }
  });
  for (const { state } of control.view.list<Deployment>('deployment', [])) takeUp(state);
  return {
    async [Symbol.asyncDispose]() {
      stop();
      ending.abort();
      await working;
    },
  };
}

async function carryOut(deps: Deps, of: Deployment, ending: AbortSignal): Promise<void> {
  const token = randomUUID();
  const ref = deploymentRef(of.environmentUid, of.id);
  const tell = (body: { readonly type: string; readonly error?: DeploymentFailure }) =>
    deps.control.ask<Deployment>(ref, { ...body, token }, { actor: of.actor });
  const started = await tell({ type: 'Start' });
  if (started?.token !== token) return;
  // By then its owner has ended it, and others wait here.
  const late = AbortSignal.timeout(limits.deploymentMs);
  try {
    await deploy(deps, started, token, AbortSignal.any([ending, late]));
    await tell({ type: 'Succeed' });
  } catch (error) {
    if (ending.aborted) await tell({ type: 'Release' });
    else if (!late.aborted) await tell({ type: 'Fail', error: failureOf(deps, error) });
  }
}

/** @throws GatewayError why nothing was deployed */
async function deploy(
  deps: Deps,
  of: Deployment,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  const { environmentUid, actor } = of;
  const body = await trying(signal, () => compiled(of, signal));
  const version = body.functions[0]?.version ?? '';
  const applied = {
    ref: deploymentRef(environmentUid, of.id),
    body: { type: 'Apply', token, version },
  };
  const approve = (plan: DeployPlan): void => {
    if (!of.allowsDestructive) refuseLosses(plan);
  };
  const work = { body, isStandalone: true, approve, along: [applied] } as const;
  await trying(signal, () => deployWithSyncs(deps, environmentUid, work, { actor }));
}

/** The body that deploys the function. */
async function compiled(of: Deployment, signal: AbortSignal): Promise<DeployBody> {
  const { integrationKey, functionName: name, functionType: kind, version } = of;
  const target = { integrationKey, name, kind };
  const { sent } = await compileSource({ code: of.code, target }, signal);
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

async function trying<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let left = triesMax; ; left--) {
    try {
      return await work();
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
    message: `The records of ${deletedModels.join(', ')} would be removed: send allow_destructive to agree.`,
  });
}

function failureOf({ logger }: Deps, error: unknown): DeploymentFailure {
  if (error instanceof GatewayError) return { code: error.code, message: error.message };
  logger.error({ err: error }, 'a deployment failed unexpectedly');
  return { code: 'server_error', message: 'The deployment failed unexpectedly.' };
}
