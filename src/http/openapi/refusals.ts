import { z } from 'zod';
import { catalogue, type ErrorCode } from '../../kernel/errors.ts';
import { errorHints } from '../../kernel/error-hints.ts';
import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import { anyJson } from '../responses.ts';
import type { AnyRoute } from '../define-route.ts';
import { pipelineErrors } from '../pipeline-errors.ts';
import { codeOf, statusOf } from '../route-errors.ts';
import type { AnyStreamRoute } from '../stream-route.ts';

const issue = z.strictObject({
  code: z.string(),
  message: z.string(),
  path: z.array(z.string()),
});

/** The uniform body of a refusal (docs/reference/errors.md#body). */
export const refusalShape = z
  .strictObject({
    error: z.strictObject({
      code: z.string().meta({ description: 'Stable name of what went wrong.' }),
      message: z.string().optional(),
      fix: z.string().optional().meta({ description: 'What to do about it.' }),
      errors: z.array(issue).optional().meta({ description: 'What is wrong with which part.' }),
      payload: anyJson.optional(),
      upstream: anyJson.optional().meta({ description: 'What the provider answered.' }),
      method: z.string().optional().meta({ description: 'Of a 429.' }),
      path: z.string().optional().meta({ description: 'Of a 429.' }),
      request_id: z.uuid().optional().meta({ description: 'Of `X-Request-Id`.' }),
    }),
  })
  .meta({ id: 'Error' });

/** Every error code of the route, by status. */
export function refusalCodes(route: AnyRoute | AnyStreamRoute): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const error of [...pipelineErrors(route), ...route.errors]) {
    const [status, code] = [statusOf(error), codeOf(error)];
    const codes = byStatus.get(status) ?? [];
    if (!codes.includes(code)) codes.push(code);
    byStatus.set(status, codes);
  }
  return byStatus;
}

/** Statuses with a `Retry-After` header. */
const waits = new Set([429, 503]);

const retryAfter: JsonObject = {
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
};

/** A response of the document. @param error schema of `refusalShape` */
export function refusalResponse(
  status: number,
  codes: readonly ErrorCode[],
  error: JsonObject,
): Record<string, Json> {
  const named = { properties: { code: { enum: codes } } };
  const [first = 'server_error'] = codes;
  const { message } = catalogue[first];
  const example = { error: { code: first, message, fix: errorHints[first] } };
  const schema = { ...error, properties: { error: named } };
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].message}`).join('\n\n'),
    ...(waits.has(status) ? { headers: retryAfter } : {}),
    content: { 'application/json': { schema, example } },
  };
}
