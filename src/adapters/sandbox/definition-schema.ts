import { z } from 'zod';

const jsonObject = z.record(z.string(), z.json());
const schemaOrNone = jsonObject.nullable();

/** What a realm says of a definition; checked, because a bundle may have changed how it says it. */
export const definitionSchema = z.object({
  type: z.enum(['sync', 'action', 'onEvent']),
  description: z.string(),
  version: z.string(),
  scopes: z.array(z.string()),
  metadata: schemaOrNone,
  checkpoint: schemaOrNone,
  hasExec: z.boolean(),
  frequency: z.string().nullable(),
  models: z.record(z.string(), jsonObject),
  autoStart: z.boolean(),
  syncType: z.enum(['full', 'incremental']),
  trackDeletes: z.boolean(),
  webhookSubscriptions: z.array(z.string()),
  hasOnWebhook: z.boolean(),
  endpoints: z.array(jsonObject),
  input: schemaOrNone,
  output: schemaOrNone,
  endpoint: schemaOrNone,
  event: z.string().nullable(),
});
