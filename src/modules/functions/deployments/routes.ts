import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  type ExecuteOptions,
  findCaughtUp,
  type ControlPlane,
} from '#control-plane/control-plane.ts';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { functionName, integrationKey, text } from '#http/fields.ts';
import { json, timestamp } from '#http/responses.ts';
import { errorHints } from '#kernel/error-hints.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { checkStandalone } from '../functions/deploy-rules.ts';
import { functionKinds } from '../functions/function.ts';
import { findFunction } from '../functions/queries.ts';
import { defineRoute } from '../services.ts';
import { requireTemplate, sourceOfTemplate } from '../templates/templates.ts';
import type { Deployment, DeploymentFailure, DeploymentOrder } from './deployment.ts';
import { deploymentRef } from './entity.ts';

interface Deps {
  readonly control: ControlPlane;
}

/** The function of a request. */
type DeploymentSource = Pick<
  DeploymentOrder,
  'functionName' | 'functionType' | 'code' | 'imports' | 'version'
>;

/**
 * @throws GatewayError `integration_not_found` (404), `template_not_found` if its provider has no such template
 */
async function sourceOf(
  { control }: Deps,
  environmentUid: string,
  body: z.output<typeof orderBody>,
): Promise<DeploymentSource> {
  const integration = await requireIntegration(control, environmentUid, body.integration_id, {
    code: 'integration_not_found',
    status: 404,
  });
  if (body.type === 'template') {
    const template = requireTemplate(integration.provider, body.template);
    const { name, kind } = template;
    return { ...sourceOfTemplate(template), functionName: name, functionType: kind, version: null };
  }
  const { function_name: functionName, function_type: functionType, code } = body;
  return { functionName, functionType, code, version: body.version ?? null };
}

/**
 * Queues the deployment of one function from source, for any node.
 * @throws GatewayError `invalid_request` if a project has the function, `request_too_large`
 */
async function queueDeployment(
  { control }: Deps,
  input: Omit<DeploymentOrder, 'id' | 'actor'>,
  options: ExecuteOptions,
): Promise<Deployment> {
  const { environmentUid, integrationKey, functionName, functionType, code } = input;
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
async function requireDeployment(
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

const functionType = z.enum(functionKinds);
const status = z.enum(['waiting', 'running', 'success', 'failed']);

const ofIntegration = {
  integration_id: integrationKey,
  allow_destructive: z
    .boolean()
    .default(false)
    .describe('True: allow records of removed models to be deleted.'),
};

const orderBody = z.discriminatedUnion('type', [
  z
    .strictObject({
      type: z.literal('function').describe('A function of yours.'),
      ...ofIntegration,
      function_name: functionName,
      function_type: functionType,
      code: text(1, 1_000_000).describe('TypeScript source of the function.'),
      version: text(0, 255).optional(),
    })
    .meta({ id: 'FunctionDeployment' }),
  z
    .strictObject({
      type: z.literal('template').describe('A template of the provider of the integration.'),
      ...ofIntegration,
      template: functionName.describe(
        'Name of the template: `GET /providers/{provider}/templates`.',
      ),
    })
    .meta({ id: 'TemplateDeployment' }),
]);

const begin = defineRoute({
  method: 'POST',
  path: '/functions/deployments',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Deploy one function from its source, or from a template.',
  description: 'It is queued, and is then part of no project.',
  body: orderBody,
  answers: {
    202: json(
      'It is queued.',
      z.strictObject({
        id: z.uuid().describe('Id of the deployment.'),
        status: status.describe('State of the deployment.'),
        created_at: timestamp,
      }),
    ),
  },
  errors: [
    errorAt(404, 'integration_not_found'),
    'template_not_found',
    'invalid_request',
    'request_too_large',
  ],
  async handle({ body, caller, services, idempotency }) {
    const { environmentUid, actor } = caller;
    const queued = await queueDeployment(
      services,
      {
        ...(await sourceOf(services, environmentUid, body)),
        environmentUid,
        integrationKey: body.integration_id,
        allowsDestructive: body.allow_destructive,
      },
      { actor, ...idempotency },
    );
    const { id, createdAt } = queued;
    return { status: 202, body: { id, status: 'waiting', created_at: isoMillis(createdAt) } };
  },
});

const deploymentShape = z.strictObject({
  id: z.uuid().describe('Id of the deployment.'),
  status: status.describe('State of the deployment.'),
  integration_id: integrationKey,
  function_name: functionName,
  function_type: functionType,
  created_at: timestamp,
  updated_at: timestamp,
  started_at: timestamp.optional(),
  completed_at: timestamp.optional(),
  duration_ms: z.int().optional(),
  deployed: z
    .boolean()
    .optional()
    .describe('Whether the function was deployed; absent before the end.'),
  deployed_functions: z
    .array(
      z.strictObject({ name: functionName.describe('Name of the function.'), version: z.string() }),
    )
    .optional()
    .describe('The deployed function with its version.'),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      fix: z.string().describe('How to fix it.'),
    })
    .optional()
    .describe('Why it failed.'),
});

const read = defineRoute({
  method: 'GET',
  path: '/functions/deployments/{id}',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Get a deployment from source.',
  description: 'Kept for seven days.',
  params: z.strictObject({ id: z.uuid().describe('Id of the deployment.') }),
  answers: { 200: json('The deployment.', deploymentShape) },
  errors: ['deployment_not_found'],
  async handle({ params, caller, services }) {
    const found = await requireDeployment(services, caller.environmentUid, params.id);
    return { status: 200, body: present(found) };
  },
});

/** Without unknown fields. */
function present(deployment: Deployment): z.output<typeof deploymentShape> {
  const { startedAt, endedAt, deployedVersion, error } = deployment;
  return {
    id: deployment.id,
    status: deployment.status,
    integration_id: deployment.integrationKey,
    function_name: deployment.functionName,
    function_type: deployment.functionType,
    created_at: isoMillis(deployment.createdAt),
    updated_at: isoMillis(deployment.updatedAt),
    ...(startedAt === null ? {} : { started_at: isoMillis(startedAt) }),
    ...(endedAt === null
      ? {}
      : { completed_at: isoMillis(endedAt), deployed: deployedVersion !== null }),
    ...(startedAt === null || endedAt === null ? {} : { duration_ms: endedAt - startedAt }),
    ...(deployedVersion === null
      ? {}
      : { deployed_functions: [{ name: deployment.functionName, version: deployedVersion }] }),
    ...(error === null ? {} : { error: { ...error, fix: fixOf(error) } }),
  };
}

const fixOf = ({ code, fix }: DeploymentFailure): string =>
  fix ?? errorHints[code in errorHints ? (code as ErrorCode) : 'server_error'];

export const deploymentRoutes: readonly AnyRoute[] = [begin, read];
