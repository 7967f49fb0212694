import { randomUUID } from 'node:crypto';
import { type ExecuteOptions, findCaughtUp } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { checkStandalone } from '../functions/deploy-rules.ts';
import { findFunction } from '../functions/queries.ts';
import type { FunctionsServices } from '../services.ts';
import type { Deployment, DeploymentOrder } from './deployment.ts';
import { deploymentRef } from './entity.ts';

type Deps = Pick<FunctionsServices, 'control'>;

/**
 * Queues the deployment of one function from source, for any node.
 * @throws GatewayError `integration_not_found` (404), `invalid_request` if a project has the function,
 *   `request_too_large`
 */
export async function queueDeployment(
  { control }: Deps,
  input: Omit<DeploymentOrder, 'id' | 'actor'>,
  options: ExecuteOptions,
): Promise<Deployment> {
  const { environmentUid, integrationKey, functionName, functionType, code } = input;
  await requireIntegration(control, environmentUid, integrationKey, {
    code: 'integration_not_found',
    status: 404,
  });
  const bytes = Buffer.byteLength(code);
  if (bytes > limits.deploymentSourceBytesMax) {
    const message = `The code has ${bytes} bytes; the limit is ${limits.deploymentSourceBytesMax}.`;
    throw new GatewayError('request_too_large', { message });
  }
  await control.view.caughtUp();
  checkStandalone(
    findFunction(control, environmentUid, integrationKey, functionType, functionName),
  );
  const order: DeploymentOrder = { ...input, id: randomUUID(), actor: options.actor };
  const ref = deploymentRef(environmentUid, order.id);
  const queued = await control.execute(ref, { type: 'Queue', order }, options);
  if (queued === null) throw new Error(`the deployment ${order.id} is gone`);
  return queued;
}

/** @throws GatewayError `deployment_not_found` */
export async function requireDeployment(
  { control: { view } }: Deps,
  environmentUid: string,
  id: string,
): Promise<Deployment> {
  const found = await findCaughtUp(view, () => view.find(deploymentRef(environmentUid, id)));
  if (found !== null) return found;
  throw new GatewayError('deployment_not_found', {
    message: `The deployment "${id}" does not exist.`,
  });
}
