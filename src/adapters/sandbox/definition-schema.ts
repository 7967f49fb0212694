import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../kernel/stable-json.ts';

/** Unchanged: zod would drop a key `__proto__`. */
const jsonObject = z.custom<JsonObject>(isJsonObject, 'Not an object.');
const schemaOrNone = jsonObject.nullable();

const modelSchemas = z.custom<Readonly<Record<string, JsonObject>>>(
  (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  'Not a map of schemas.',
);

/** An isolate's report of a definition; validated, because a bundle may manipulate it. */
export const definitionSchema = z.object({
  type: z.enum(['sync', 'action', 'onEvent']),
  description: z.string(),
  version: z.string(),
  scopes: z.array(z.string()),
  metadata: schemaOrNone,
  checkpoint: schemaOrNone,
  hasExec: z.boolean(),
  frequency: z.string().nullable(),
  models: modelSchemas,
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
