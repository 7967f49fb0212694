import { z } from 'zod';
import { jsonObject, mapOf } from '#http/fields.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import type { Json } from '#kernel/stable-json.ts';
import { dayMs } from '#kernel/time.ts';

/**
 * The arguments of a function's calls. They come from untrusted code, so all are validated. Data are used as parsed,
 * because zod would drop a key `__proto__`.
 */
const json = z.custom<Json>((value) => value !== undefined);
const headers = mapOf(z.string(), z.string());
const name = z.string().min(1).max(255);

const body = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('json'), value: json }),
  z.object({ kind: z.literal('text'), text: z.string() }),
  z.object({ kind: z.literal('form'), text: z.string() }),
  z.object({ kind: z.literal('bytes'), base64: z.string() }),
  z.object({
    kind: z.literal('fields'),
    fields: z.array(
      z.tuple([z.string(), z.union([z.object({ base64: z.string() }), z.object({ value: json })])]),
    ),
  }),
]);
export type Body = z.output<typeof body>;

const connection = { providerConfigKey: name.optional(), connectionId: name.optional() };
const model = z.object({ model: z.string() });

export const shapes = {
  http: z.object({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']),
    endpoint: z.string().max(65_536),
    params: z.union([z.string(), jsonObject]).optional(),
    headers: headers.optional(),
    body,
    retries: z.number().min(0).optional(),
    retryOn: z.array(z.number()).max(100).optional(),
    retryHeader: z
      .object({ at: z.array(z.string()).optional(), after: z.array(z.string()).optional() })
      .optional(),
    baseUrlOverride: z.string().max(65_536).optional(),
    relativeTo: z.string().max(65_536).optional(),
    bodyAs: z.enum(['text', 'binary']),
    forwardHeadersOnRedirect: z.boolean().optional(),
    ...connection,
  }),
  fetch: z.object({ url: z.string(), method: z.string().regex(/^[A-Z]{1,20}$/), headers, body }),
  log: z.object({
    lines: z
      .array(
        z.object({
          level: z.enum(['debug', 'info', 'warn', 'error']),
          message: z.string().max(110_000),
          payload: z.string().max(110_000).nullable(),
        }),
      )
      .max(1000),
  }),
  getConnection: z.object({
    ...connection,
    forceRefresh: z.boolean().optional(),
    refreshToken: z.boolean().optional(),
  }),
  getIntegration: z.object({ include: z.array(z.enum(['webhook', 'credentials'])).max(2) }),
  metadata: z.object({ metadata: jsonObject }),
  triggerAction: z.object({ ...connection, name, input: json.optional() }),
  triggerSync: z.object({
    providerConfigKey: name,
    connectionId: name,
    name,
    variant: name.optional(),
    options: jsonObject,
  }),
  startSync: z.object({
    providerConfigKey: name,
    names: z.array(name).max(100),
    connectionId: name.optional(),
  }),
  saveCheckpoint: z.object({ checkpoint: jsonObject }),
  model,
  getRecordsById: model.extend({ ids: z.array(z.string()).max(1000) }),
  listRecords: model.extend({ cursor: z.string().nullable(), limit: z.int().min(1).max(100) }),
  setMergingStrategy: model.extend({ strategy: z.enum(['override', 'ignore_if_modified_after']) }),
  acquireLock: z.object({ key: name, ttlMs: z.number().positive().max(dayMs) }),
  releaseLock: z.object({ key: name }),
} as const;

/** @throws GatewayError `invalid_request` with the first problem */
export function parseArgs<S extends z.ZodType>(
  shape: S,
  text: string,
  parse: (json: string) => unknown = parseWrittenJson,
): z.output<S> {
  const parsed = shape.safeParse(parseJson(text, parse));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join('.') ?? '';
  const message = `The call is not valid: ${where === '' ? '' : `${where}: `}${issue?.message ?? ''}`;
  throw new GatewayError('invalid_request', { message });
}

export function parseJson(
  text: string,
  parse: (json: string) => unknown = parseWrittenJson,
): unknown {
  try {
    return parse(text);
  } catch {
    throw new GatewayError('invalid_request', { message: 'The call is not valid JSON.' });
  }
}
