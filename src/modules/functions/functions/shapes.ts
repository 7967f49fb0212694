import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { jsonObject } from '../../../http/fields.ts';

/** Functions in the format of the API. */

const kind = z.enum(['sync', 'action', 'on-event']);

const shown = {
  id: z.int(),
  name: z.string().meta({ examples: ['contacts'] }),
  type: kind,
  description: z.string().optional(),
  scopes: z.array(z.string()).optional(),
  enabled: z.boolean(),
  last_deployed: timestamp,
  source: z.enum(['catalog', 'standalone', 'repo']),
  input: z.string().optional(),
  returns: z.array(z.string()).optional(),
  json_schema: jsonObject.optional(),
  runs: z.string().nullable().optional(),
  auto_start: z.boolean().optional(),
  track_deletes: z.boolean().optional(),
  event: z.string().nullable().optional(),
};

/** Without fields that the kind does not have. */
const functionShape = z.strictObject(shown).meta({ id: 'Function' });

export const oneFunctionShape = data(functionShape);

export const functionsShape = z.strictObject({
  data: z.array(functionShape),
  pagination: z.strictObject({ total: z.int(), page: z.int(), limit: z.int() }),
});

export const removedShape = data(z.strictObject({ success: z.literal(true) }));

export const codeShape = z.strictObject({ type: kind, code: z.string() });

const configured = z
  .strictObject({
    ...shown,
    version: z.string(),
    sdk_version: z.string().nullable(),
    endpoints: z.array(z.never()).optional(),
    features: z.array(z.string()).optional(),
    webhookSubscriptions: z.array(z.string()).optional(),
  })
  .meta({ id: 'ConfiguredFunction' });

const ofIntegration = z.strictObject({
  providerConfigKey: z.string(),
  provider: z.string().nullable(),
  syncs: z.array(configured),
  actions: z.array(configured),
  'on-events': z.array(configured),
});

const tool = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: z.strictObject({
    type: z.literal('object'),
    properties: jsonObject,
    required: z.array(z.string()),
  }),
});

/** In the format `svc`, or `openai`. */
export const configurationShape = z.union([z.array(ofIntegration), data(z.array(tool))]);

export const compiledShape = z.strictObject({
  bundle_size_bytes: z.int(),
  bundled_js: z.string(),
  compiled_at: timestamp,
});

const planItem = z
  .strictObject({
    integrationId: z.string(),
    name: z.string(),
    type: kind,
    connections: z.int(),
    auto_start: z.boolean(),
  })
  .meta({ id: 'DeployedItem' });

/** The effects of a deployment, or of its dry run. */
export const planShape = z
  .strictObject({
    created: z.array(planItem),
    updated: z.array(planItem),
    unchanged: z.array(planItem),
    deleted: z.array(planItem),
    deletedModels: z.array(z.string()),
  })
  .meta({ id: 'DeployPlan' });
