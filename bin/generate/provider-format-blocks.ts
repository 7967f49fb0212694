import type { z } from 'zod';
import { lookupStep } from '#modules/connections/providers/lookup-rules.ts';
import {
  paginate,
  proxy,
  retry,
  verification,
} from '#modules/connections/providers/proxy-rules.ts';
import {
  authorization,
  field,
  hooks,
  identity,
  refresh,
  revocation,
  tokenCalls,
} from '#modules/connections/providers/schema.ts';
import {
  connection,
  signature,
  source,
  webhookRules,
} from '#modules/connections/providers/webhook-rules.ts';
import { code, table } from './markdown.ts';

/** The tables of docs/reference/provider-format.md, from the descriptions of the schema. */
export const providerFormatBlocks = (): Readonly<Record<string, string>> => ({
  identity: fieldsTable(identity),
  authorization: fieldsTable(authorization),
  'token-calls': fieldsTable(tokenCalls),
  refresh: fieldsTable(refresh),
  hooks: fieldsTable(hooks),
  lookup: fieldsTable(lookupStep.shape),
  revocation: fieldsTable(revocation.shape),
  field: fieldsTable(field.shape),
  proxy: fieldsTable(proxy.shape),
  verification: fieldsTable(verification.shape),
  retry: fieldsTable(retry.shape),
  paginate: fieldsTable(paginate.shape),
  source: fieldsTable(source.shape),
  'webhook-rules': fieldsTable(webhookRules.shape),
  signature: fieldsTable(signature.shape),
  connection: fieldsTable(connection.shape),
});

function fieldsTable(fields: Readonly<Record<string, z.ZodType>>): string {
  const rows = Object.entries(fields).map(([name, schema]) => {
    const text = schema.description ?? '';
    return [code(name), schema.safeParse(undefined).success ? text : `Required. ${text}`];
  });
  return table(['Field', 'Meaning'], rows);
}
