import { z } from 'zod';
import { jsonObject } from '#http/fields.ts';
import { representation, type DeepReadonly } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { isoMillis } from '#kernel/time.ts';
import { presentDebounce } from './entity.ts';
import {
  changeSubscriptionOf,
  functionKinds,
  type DeployedFunction,
  type FunctionKind,
} from './function.ts';

/** Functions in the format of the API. */

const kind = z.enum(functionKinds);

const isKind =
  (...kinds: readonly FunctionKind[]) =>
  ({ kind: own }: DeployedFunction) =>
    kinds.includes(own);
const isTyped = isKind('sync', 'action');
const isSync = isKind('sync');
const isOnChange = isKind('on-change');

/** How webhooks are joined. */
export const debounceFields = {
  seconds: z.number().describe('The run starts so long after the last webhook.'),
  max_wait_seconds: z.number().describe('And at the latest so long after the first one.'),
  payload: z
    .enum(['last', 'all'])
    .describe('What `onWebhook` gets: the body of the newest webhook, or a list of all bodies.'),
};

/** Without fields that the kind does not have. */
const rows = {
  id: z.int().describe('Number of the function.'),
  name: z.string().meta({ description: 'Name of the function.', examples: ['contacts'] }),
  type: [kind.describe('Kind of the function.'), (one: DeployedFunction) => one.kind],
  description: z.string().optional().describe('Description of the function.'),
  scopes: z
    .array(z.string())
    .optional()
    .describe('Scopes that the function needs at the provider.'),
  enabled: [
    z.boolean().describe('Whether the function can run.'),
    ({ isEnabled }: DeployedFunction) => isEnabled,
  ],
  record_calls: [
    z.boolean().describe('Whether the calls of its runs are recorded, for replays.'),
    ({ recordsCalls }: DeployedFunction) => recordsCalls === true,
  ],
  concurrency: [
    z
      .int()
      .nullable()
      .describe(
        'How many of its runs a connection has at the same time; null: no limit of its own.',
      ),
    ({ concurrency }: DeployedFunction) => concurrency ?? null,
  ],
  debounce: [
    z
      .strictObject(debounceFields)
      .nullable()
      .optional()
      .describe('How webhooks are joined that start runs of a sync; null: they are not.'),
    (one: DeployedFunction) =>
      isSync(one) ? (one.debounce === undefined ? null : presentDebounce(one.debounce)) : undefined,
  ],
  last_deployed: [
    timestamp.describe('Time of the last deployment (RFC 3339).'),
    ({ deployedAt }: DeployedFunction) => isoMillis(deployedAt),
  ],
  source: [
    z
      .enum(['catalog', 'standalone', 'repo'])
      .describe('Whether it is part of a deployed project, or deployed on its own.'),
    ({ isStandalone }: DeployedFunction) => (isStandalone === true ? 'standalone' : 'repo'),
  ],
  input: [
    z.string().optional().describe('Name of the model of the input.'),
    (one: DeployedFunction) => (isTyped(one) ? (one.inputModel ?? undefined) : undefined),
  ],
  returns: [
    z.array(z.string()).optional().describe('Names of the models of the records or of the output.'),
    (one: DeployedFunction) => (isTyped(one) ? one.models : undefined),
  ],
  models: [
    z
      .array(z.string())
      .optional()
      .describe('Models whose changes an on-change function is run on.'),
    (one: DeployedFunction) => (isOnChange(one) ? one.models : undefined),
  ],
  subscription: [
    z
      .string()
      .optional()
      .describe('Subscription that holds the position of an on-change function.'),
    (one: DeployedFunction) => (isOnChange(one) ? changeSubscriptionOf(one) : undefined),
  ],
  json_schema: [
    jsonObject.optional().describe('JSON Schemas of its models, draft 7.'),
    (one: DeployedFunction) => (isTyped(one) ? one.jsonSchema : undefined),
  ],
  runs: [
    z.string().nullable().optional(),
    (one: DeployedFunction) => (isSync(one) ? one.frequency : undefined),
  ],
  auto_start: [
    z.boolean().optional(),
    (one: DeployedFunction) => (isSync(one) ? one.autoStart : undefined),
  ],
  track_deletes: [
    z.boolean().optional(),
    (one: DeployedFunction) => (isSync(one) ? one.trackDeletes : undefined),
  ],
  event: [
    z.string().nullable().optional().describe('Event that starts an on-event function.'),
    (one: DeployedFunction) => (one.kind === 'on-event' ? one.event : undefined),
  ],
} as const;

const shown = representation<DeployedFunction>()(rows);
export const presentFunction = shown.of;

const functionShape = shown.schema.meta({ id: 'Function' });

export const oneFunctionShape = data(functionShape);

export const functionsShape = z.strictObject({
  data: z.array(functionShape),
  pagination: z.strictObject({ total: z.int(), page: z.int(), limit: z.int() }),
});

export const removedShape = data(z.strictObject({ success: z.literal(true) }));

export const codeShape = z.strictObject({
  type: kind.describe('Kind of the function.'),
  code: z.string().describe('TypeScript source of the function.'),
});

const configured = representation<DeployedFunction>()({
  ...rows,
  version: z.string(),
  sdk_version: [
    z.string().nullable().describe('Version of the SDK; null: it is not recorded.'),
    () => null,
  ],
  endpoints: [
    z.array(z.never()).optional().describe('Deprecated: always empty.'),
    (one) => (isTyped(one) ? [] : undefined),
  ],
  features: [z.array(z.string()).optional(), (one) => (isTyped(one) ? one.features : undefined)],
  webhookSubscriptions: [
    z.array(z.string()).optional(),
    (one) => (isSync(one) ? one.webhookSubscriptions : undefined),
  ],
});
const configuredShape = configured.schema.meta({ id: 'ConfiguredFunction' });

const ofIntegration = z.strictObject({
  providerConfigKey: z.string(),
  provider: z.string().nullable(),
  syncs: z.array(configuredShape).describe('The syncs of the integration.'),
  actions: z.array(configuredShape).describe('The actions of the integration.'),
  'on-events': z.array(configuredShape).describe('The on-event functions of the integration.'),
  'on-changes': z.array(configuredShape).describe('The on-change functions of the integration.'),
});

const tool = z.strictObject({
  name: z.string().describe('Name of the tool: of the action.'),
  description: z.string().describe('Description of the action.'),
  parameters: z
    .strictObject({
      type: z.literal('object').describe('Always an object.'),
      properties: jsonObject.describe('JSON Schemas of the fields.'),
      required: z.array(z.string()).describe('Names of the required fields.'),
    })
    .describe('JSON Schema of the input.'),
});

/** In the format `svc`, or `openai`. */
export const configurationShape = z.union([
  z.array(ofIntegration),
  data(z.array(tool).describe('The actions as tools.')),
]);

export const compiledShape = z.strictObject({
  bundle_size_bytes: z.int().describe('Size of the bundle in bytes.'),
  bundled_js: z.string().describe('The bundle.'),
  compiled_at: timestamp.describe('Time of the compilation (RFC 3339).'),
});

const planItem = z
  .strictObject({
    integrationId: z.string(),
    name: z.string().describe('Name of the function.'),
    type: kind.describe('Kind of the function.'),
    connections: z.int().describe('Number of connections of the integration.'),
    auto_start: z.boolean(),
  })
  .meta({ id: 'DeployedItem' });

const fieldChange = z.strictObject({
  field: z.string().describe('Name of the field; nested ones as `address.city`'),
  change: z.enum(['added', 'removed', 'retyped']).describe('Kind of the change.'),
  from: z.string().nullable().describe('Type before'),
  to: z.string().nullable().describe('Type after'),
});

const updatedItem = z
  .strictObject({
    ...planItem.shape,
    changes: z
      .array(
        z.strictObject({
          part: z
            .string()
            .describe('`code`, `model`, or the name of a setting such as `frequency`'),
          model: z.string().nullable().describe('The changed model'),
          from: z.string().nullable().describe('The setting before'),
          to: z.string().nullable().describe('The setting after'),
          fields: z.array(fieldChange).describe('Changed fields of the model'),
        }),
      )
      .describe('What differs from the deployed function.'),
  })
  .meta({ id: 'UpdatedItem' });

const breakingModel = z
  .strictObject({
    integrationId: z.string(),
    function: z.string().describe('Name of the function.'),
    model: z.string(),
    fields: z.array(fieldChange).describe('Removed fields, and those of another type'),
    readers: z
      .strictObject({
        api_keys: z.array(z.string()).describe('Names of keys that may read records'),
        webhook_endpoints: z.array(z.string()).describe('Names of endpoints for syncs'),
        typed_topics: z.array(z.string()).describe('Topics of the model'),
      })
      .describe('Who reads records of the model, as far as the gateway knows'),
  })
  .meta({ id: 'BreakingModel' });

const plan = {
  created: z.array(planItem).describe('Functions that are added.'),
  updated: z.array(updatedItem).describe('Functions that are changed.'),
  unchanged: z.array(planItem).describe('Functions that stay as they are.'),
  deleted: z.array(planItem).describe('Functions that are removed.'),
  deletedModels: z.array(z.string()).describe('Models whose records are deleted.'),
  breaking: z.array(breakingModel).describe('Models with changes that readers notice'),
};

/** The effects of a deployment. */
export const planShape = z.strictObject(plan).meta({ id: 'DeployPlan' });
export type DeployPlan = DeepReadonly<z.output<typeof planShape>>;

/** Those of a dry run. */
export const previewShape = z
  .strictObject({
    ...plan,
    syncs_pending: z
      .boolean()
      .describe('Whether syncs of connections lag behind an interrupted deployment'),
  })
  .meta({ id: 'DeployPreview' });

/** The functions of each integration, for applications that generate their own clients. */
export function presentConfiguration(
  functions: readonly DeployedFunction[],
  providerOf: (integrationKey: string) => string | null,
): Record<string, unknown>[] {
  const keys = [...new Set(functions.map(({ integrationKey }) => integrationKey))];
  return keys.map((providerConfigKey) => {
    const own = functions.filter(({ integrationKey }) => integrationKey === providerConfigKey);
    const functionsOf = (kind: DeployedFunction['kind']) =>
      own.filter((deployed) => deployed.kind === kind).map(configured.of);
    return {
      providerConfigKey,
      provider: providerOf(providerConfigKey),
      syncs: functionsOf('sync'),
      actions: functionsOf('action'),
      'on-events': functionsOf('on-event'),
      'on-changes': functionsOf('on-change'),
    };
  });
}

/** Actions as tools of a language model. */
export function presentTools(functions: readonly DeployedFunction[]): Record<string, unknown> {
  const actions = functions.filter(({ kind }) => kind === 'action');
  return {
    data: actions.map((action) => ({
      name: action.name,
      description: action.description,
      parameters: toolParameters(action) ?? noParameters,
    })),
  };
}

interface ToolParameters {
  readonly type: 'object';
  readonly properties: JsonObject;
  readonly required: readonly Json[];
}

const noParameters: ToolParameters = { type: 'object', properties: {}, required: [] };

/** JSON Schema of the input of an action, draft 7, as one document; null where it takes none. */
export function inputSchema({ inputModel, jsonSchema }: DeployedFunction): JsonObject | null {
  const definitions: Json | undefined = jsonSchema['definitions'];
  if (inputModel === null || !isJsonObject(definitions)) return null;
  const inputDefinition = definitions[inputModel];
  if (!isJsonObject(inputDefinition) || inputDefinition['type'] === 'null') return null;
  return { definitions, $ref: `#/definitions/${inputModel}` };
}

/** Every keyword of the input of an action, with the definitions that it refers to; empty where it takes none. */
export function objectSchema({ inputModel, jsonSchema }: DeployedFunction): JsonObject {
  const definitions: Json | undefined = jsonSchema['definitions'];
  if (inputModel === null || !isJsonObject(definitions)) return {};
  const inputSchema = definitions[inputModel];
  if (!isJsonObject(inputSchema) || inputSchema['type'] !== 'object') return {};
  const refers = JSON.stringify(inputSchema).includes('"$ref"');
  return refers ? { ...inputSchema, definitions } : inputSchema;
}

/** The fields of the input of an action; null if it is not an object. */
export function toolParameters({
  inputModel,
  jsonSchema,
}: DeployedFunction): ToolParameters | null {
  if (inputModel === null) return noParameters;
  const definitions: Json | undefined = jsonSchema['definitions'];
  const inputSchema = isJsonObject(definitions) ? definitions[inputModel] : undefined;
  if (!isJsonObject(inputSchema)) return null;
  const { type, properties = {}, required = [] } = inputSchema;
  if (type === 'null') return noParameters;
  if (type !== 'object' || !isJsonObject(properties) || !Array.isArray(required)) return null;
  return { type, properties, required };
}
