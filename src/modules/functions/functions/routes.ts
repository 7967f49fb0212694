import { z } from 'zod';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { AnyRoute } from '#http/define-route.ts';
import { functionName, integrationKey, text, wholeNumber } from '#http/fields.ts';
import { askOptions } from '#http/options.ts';
import { json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isoMillis } from '#kernel/time.ts';
import { listIntegrations, requireIntegration } from '#modules/connections/integrations/queries.ts';
import { runQueueRoutes } from '../run-queues/routes.ts';
import { defineRoute, type ReleaseSettings } from '../services.ts';
import { webhookBatchRoutes } from '../webhook-batches/routes.ts';
import { compileSource } from './compile-source.ts';
import { deployBody, previewBody } from './deploy-body.ts';
import { dryRunRoutes } from './dry-run-routes.ts';
import { functionRef } from './entity.ts';
import { functionKinds, type DeployedFunction, type FunctionKind } from './function.ts';
import { deleteFunction, deployWithSyncs, previewDeployment } from './handlers.ts';
import { keptLogRoutes } from './kept-log-routes.ts';
import {
  presentConfiguration,
  presentFunction,
  presentTools,
  codeShape,
  compiledShape,
  configurationShape,
  functionsShape,
  oneFunctionShape,
  planShape,
  previewShape,
  removedShape,
} from './presenter.ts';
import { listFunctions } from './queries.ts';
import { replayRoutes } from './replay-routes.ts';

/** The oldest supported version of the CLI (docs/reference/http.md#headers). */
const oldest = '0.67.0';

/**
 * Refuses a deployment of a CLI that is newer than this service, or too old. Other clients are accepted.
 * @throws GatewayError `invalid_cli_version`
 */
export function checkCliVersion(
  userAgent: string | undefined,
  { settings }: { readonly settings: ReleaseSettings },
): void {
  const [, sent] = /^svc-cli\/(\d+\.\d+\.\d+)/.exec(userAgent ?? '') ?? [];
  if (sent === undefined) return;
  const { version } = settings;
  if (isBefore(sent, oldest)) throw misfit(sent, `older than ${oldest}: use a newer one.`);
  if (isBefore(version, sent)) {
    throw misfit(sent, `newer than the service, which is ${version}: use one of its version.`);
  }
}

const misfit = (sent: string, why: string): GatewayError =>
  new GatewayError('invalid_cli_version', { message: `The command line ${sent} is ${why}` });

function isBefore(one: string, other: string): boolean {
  const others = other.split('.').map(Number);
  for (const [at, number] of one.split('.').map(Number).entries()) {
    const difference = number - (others[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

const functionType = z.enum(functionKinds);
const ofIntegration = z.strictObject({ uniqueKey: integrationKey });
const ofFunction = z.strictObject({
  uniqueKey: integrationKey,
  name: functionName.describe('Name of the function.'),
});

const listRoute = defineRoute({
  method: 'GET',
  path: '/integrations/{uniqueKey}/functions',
  credential: 'environment',
  scopes: ['environment:functions:list'],
  summary: 'List the functions of an integration.',
  params: ofIntegration,
  query: z.strictObject({
    type: functionType.optional().describe('Only functions of this kind.'),
    search: text(1, 255).optional().describe('Only functions whose name contains this text.'),
    page: wholeNumber(0, 1_000_000).default(0),
    limit: wholeNumber(1, 100).default(20),
  }),
  answers: { 200: json('A page of functions.', functionsShape) },
  errors: ['not_found'],
  async handle({ params, query, caller, services }) {
    const { control } = services;
    await requireIntegration(control, caller.environmentUid, params.uniqueKey);
    const search = query.search?.toLowerCase() ?? '';
    const found = listFunctions(control, caller.environmentUid, {
      integrationKey: params.uniqueKey,
      ...(query.type === undefined ? {} : { kind: query.type }),
    }).filter(({ name }) => name.toLowerCase().includes(search));
    const { page, limit } = query;
    return {
      status: 200,
      body: {
        data: found.slice(page * limit, (page + 1) * limit).map(presentFunction),
        pagination: { total: found.length, page, limit },
      },
    };
  },
});

const getRoute = defineRoute({
  method: 'GET',
  path: '/integrations/{uniqueKey}/functions/{name}',
  credential: 'environment',
  scopes: ['environment:functions:read'],
  summary: 'Get a function of an integration.',
  params: ofFunction,
  query: z.strictObject({
    type: functionType.optional().describe('Kind of the function, where several have the name.'),
  }),
  answers: { 200: json('The function.', oneFunctionShape) },
  errors: ['not_found'],
  async handle({ params, query, caller, services }) {
    const found = await named(services.control, caller.environmentUid, params, query.type);
    return { status: 200, body: { data: presentFunction(found[0]) } };
  },
});

const deleteRoute = defineRoute({
  method: 'DELETE',
  path: '/integrations/{uniqueKey}/functions/{name}',
  credential: 'environment',
  scopes: ['environment:functions:delete'],
  summary: 'Delete a function.',
  description:
    'Only one that was deployed from source: a deployed project manages its own. Syncs of it end, and their records are deleted.',
  params: ofFunction,
  query: z.strictObject({
    type: functionType.describe('Kind of the function, where several have the name.'),
  }),
  answers: { 200: json('It is removed.', removedShape) },
  errors: ['not_found', 'function_managed_by_deploy'],
  async handle({ params, query, caller, services, idempotency }) {
    const [found] = await named(services.control, caller.environmentUid, params, query.type);
    await deleteFunction(services, found, { actor: caller.actor, ...idempotency });
    return { status: 200, body: { data: { success: true } } };
  },
});

const recordingRoute = defineRoute({
  method: 'PUT',
  path: '/integrations/{uniqueKey}/functions/{name}/recording',
  credential: 'environment',
  scopes: ['environment:logs:keep'],
  summary: 'Record the calls of a function, or stop it.',
  description:
    'The responses that its runs get from now on are kept sealed for 7 days, so that they can be replayed. It stays over deployments.',
  params: ofFunction,
  query: z.strictObject({
    type: functionType.describe('Kind of the function, where several have the name.'),
  }),
  body: z.strictObject({
    record_calls: z.boolean().describe('Whether the calls of its runs are recorded.'),
  }),
  answers: { 200: json('The function.', oneFunctionShape) },
  errors: ['not_found'],
  async handle(input) {
    const { params, query, body, caller, services } = input;
    const { control } = services;
    const { environmentUid } = caller;
    const [found] = await named(control, environmentUid, params, query.type);
    const ref = functionRef(environmentUid, found.integrationKey, found.kind, found.name);
    const command = { type: 'SetRecording', recordsCalls: body.record_calls } as const;
    const changed = await control.execute(ref, command, askOptions(input));
    return { status: 200, body: { data: presentFunction(changed ?? found) } };
  },
});

const codeRoute = defineRoute({
  method: 'GET',
  path: '/integrations/{uniqueKey}/functions/{name}/code',
  credential: 'environment',
  scopes: ['environment:functions:read'],
  summary: 'Get the TypeScript source of a function.',
  params: ofFunction,
  query: z.strictObject({
    type: functionType.optional().describe('Kind of the function, where several have the name.'),
  }),
  answers: { 200: json('The source.', codeShape) },
  errors: ['not_found', 'ambiguous_function'],
  async handle({ params, query, caller, services }) {
    const found = await named(services.control, caller.environmentUid, params, query.type);
    if (found.length > 1) {
      const matches = found.map(({ kind, name }) => ({ type: kind, name }));
      throw new GatewayError('ambiguous_function', { payload: { matches } });
    }
    return { status: 200, body: { type: found[0].kind, code: found[0].source } };
  },
});

const configurationRoute = defineRoute({
  method: 'GET',
  path: '/scripts/config',
  credential: 'environment',
  scopes: ['environment:integrations:list_functions'],
  summary: 'Get the functions of the environment.',
  description: 'By integration, or with `format=openai` the actions as tools of a language model.',
  query: z.strictObject({
    format: z
      .enum(['svc', 'openai'])
      .default('svc')
      .describe('`svc`: functions by integration; `openai`: actions as tools.'),
  }),
  answers: { 200: json('The functions.', configurationShape) },
  errors: [],
  async handle({ query, caller, services }) {
    const { control } = services;
    const functions = listFunctions(control, caller.environmentUid);
    if (query.format === 'openai') return { status: 200, body: presentTools(functions) };
    const integrations = listIntegrations(control, caller.environmentUid);
    const providers = new Map(integrations.map((one) => [one.uniqueKey, one.provider] as const));
    const body = presentConfiguration(functions, (key) => providers.get(key) ?? null);
    return { status: 200, body };
  },
});

const compileRoute = defineRoute({
  method: 'POST',
  path: '/functions/compile',
  credential: 'environment',
  scopes: ['environment:functions:compile'],
  summary: 'Compile a function.',
  description:
    'Checks the types and bundles the file; nothing is stored. A projection is refused: `svc compile` checks those of a project.',
  body: z.strictObject({ code: text(1, 1_000_000).describe('TypeScript source of one file.') }),
  answers: { 200: json('The bundle.', compiledShape) },
  errors: ['compilation_error', 'timeout', 'execution_environment_unavailable'],
  async handle({ body, caller, services, signal }) {
    const { environmentUid } = caller;
    const { bundle } = await compileSource({ code: body.code }, signal, { environmentUid });
    return {
      status: 200,
      body: {
        bundle_size_bytes: Buffer.byteLength(bundle),
        bundled_js: bundle,
        compiled_at: isoMillis(services.clock.now()),
      },
    };
  },
});

/** Identifies the CLI. */
const deployHeaders = z.object({
  'user-agent': z
    .string()
    .optional()
    .describe('`svc-cli/<version>` of the command line, which is checked.'),
});

const deployErrors = [
  'invalid_cli_version',
  'integration_not_found',
  'missing_required_fields_on_deploy',
  'deploy_missing_json_schema_model',
  'sync_interval_invalid',
  'sync_interval_too_short',
] as const;

const previewRoute = defineRoute({
  method: 'POST',
  path: '/functions/deployments/bundle/preview',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Preview a deployment.',
  description: 'Nothing is changed.',
  headers: deployHeaders,
  body: previewBody,
  answers: { 200: json('What would change.', previewShape) },
  errors: deployErrors,
  async handle({ body, headers, caller, services }) {
    checkCliVersion(headers['user-agent'], services);
    const plan = await previewDeployment(services, caller.environmentUid, body);
    return { status: 200, body: plan };
  },
});

const deployRoute = defineRoute({
  method: 'POST',
  path: '/functions/deployments/bundle',
  credential: 'environment',
  scopes: ['environment:deploy'],
  summary: 'Deploy a project of functions.',
  description:
    'All functions are deployed, or none. Functions in scope that are missing from the request are removed, with the records of removed syncs.',
  headers: deployHeaders,
  body: deployBody,
  answers: { 200: json('What changed.', planShape) },
  errors: [...deployErrors, 'concurrent_deployment'],
  async handle({ body, headers, caller, services, idempotency }) {
    checkCliVersion(headers['user-agent'], services);
    const { actor, environmentUid } = caller;
    const options = { actor, ...idempotency };
    const plan = await deployWithSyncs(services, environmentUid, { body }, options);
    return { status: 200, body: plan };
  },
});

/** At least one function of that name, in the order sync, action, on-event. */
async function named(
  control: ControlPlane,
  environmentUid: string,
  params: z.output<typeof ofFunction>,
  type: FunctionKind | undefined,
): Promise<[DeployedFunction, ...DeployedFunction[]]> {
  const { uniqueKey, name } = params;
  await requireIntegration(control, environmentUid, uniqueKey);
  const find = (): DeployedFunction[] =>
    functionType.options.flatMap((kind) =>
      type === undefined || type === kind
        ? listFunctions(control, environmentUid, { integrationKey: uniqueKey, kind }).filter(
            (deployed) => deployed.name === name,
          )
        : [],
    );
  let [first, ...others] = find();
  if (first === undefined) {
    await control.view.caughtUp();
    [first, ...others] = find();
  }
  if (first === undefined) {
    const what = type ?? 'function';
    throw new GatewayError('not_found', {
      message: `The ${what} "${name}" is not deployed for the integration "${uniqueKey}".`,
    });
  }
  return [first, ...others];
}

export const functionRoutes: readonly AnyRoute[] = [
  listRoute,
  getRoute,
  deleteRoute,
  recordingRoute,
  codeRoute,
  configurationRoute,
  compileRoute,
  ...dryRunRoutes,
  ...replayRoutes,
  ...runQueueRoutes,
  ...webhookBatchRoutes,
  ...keptLogRoutes,
  previewRoute,
  deployRoute,
];
