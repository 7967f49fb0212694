import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import { functionEntity, functionRef } from './entity.ts';
import type { DeployedFunction, FunctionKind } from './function.ts';

/** Deployed functions of one integration, or of the whole environment, in path order. */
export function listFunctions(
  { view }: ControlPlane,
  environmentUid: string,
  filter: { readonly integrationKey?: string; readonly kind?: FunctionKind } = {},
): DeployedFunction[] {
  const { integrationKey, kind } = filter;
  const prefix = integrationKey === undefined ? [environmentUid] : [environmentUid, integrationKey];
  const found = view.list(functionEntity, prefix).map(({ state }) => state);
  return kind === undefined ? found : found.filter((deployed) => deployed.kind === kind);
}

type FunctionName = Pick<DeployedFunction, 'integrationKey' | 'kind' | 'name'>;

/** The key of a function in `functionLogsUntil` of its environment. */
export const functionLogKey = ({ integrationKey, kind, name }: FunctionName): string =>
  `${integrationKey}/${kind}/${name}`;

/** Whether any environment has a function. */
export const hasFunctions = ({ view }: ControlPlane): boolean => view.has(functionEntity);

export function findFunction(
  { view }: ControlPlane,
  environmentUid: string,
  integrationKey: string,
  kind: FunctionKind,
  name: string,
): DeployedFunction | null {
  return view.find(functionRef(environmentUid, integrationKey, kind, name));
}

/**
 * The function, after this node has caught up with the log if need be.
 * @throws GatewayError with `code`; the message contains function, integration and environment
 */
export async function requireFunction(
  control: ControlPlane,
  environmentUid: string,
  integrationKey: string,
  kind: FunctionKind,
  name: string,
  code: ErrorCode = 'not_found',
): Promise<DeployedFunction> {
  const find = () => findFunction(control, environmentUid, integrationKey, kind, name);
  const existing = find();
  if (existing !== null) return existing;
  await control.view.caughtUp();
  const found = find();
  if (found !== null) return found;
  const message =
    `The ${kind} "${name}" of the integration "${integrationKey}" is not deployed in the environment ` +
    `"${environmentName(control, environmentUid)}" of the key.`;
  throw new GatewayError(code, { message });
}
