import { GatewayError, type ErrorDetails } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { presentFailure, type FailureDetail } from '#rules/failure-detail.ts';

/** Limit of an error's payload in bytes of JSON. */
const payloadBytesMax = 99_000;

/** The body of an action's outcome: its output, or the complete error. */
export function outputJson(
  end:
    | { readonly output: string | undefined }
    | {
        readonly error: GatewayError;
        readonly runId?: string;
        readonly detail?: FailureDetail;
      },
): string {
  if ('output' in end) return end.output === undefined ? '{}' : `{"output":${end.output}}`;
  const { runId, detail } = end;
  const { code, details, message } = end.error;
  const { payload, upstream, errors } = details;
  return JSON.stringify({
    error: {
      code,
      message,
      ...(errors === undefined ? {} : { errors }),
      ...(payload === undefined ? {} : { payload: bounded(payload) }),
      ...(upstream === undefined ? {} : { upstream: bounded(upstream) }),
      ...(runId === undefined ? {} : { runId }),
      ...(detail === undefined ? {} : { failure: presentFailure(detail) }),
    },
  });
}

/** @throws GatewayError the error of the action */
export function readOutput(json: string): Json | undefined {
  const end = parseRawJson(json) as { output?: Json; error?: { code: string } & ErrorDetails };
  if (end.error === undefined) return end.output;
  const { code, message, errors, payload, upstream, runId, failure } = end.error;
  throw GatewayError.from({
    code,
    details: {
      ...(message === undefined ? {} : { message }),
      ...(errors === undefined ? {} : { errors }),
      ...(payload === undefined ? {} : { payload }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(runId === undefined ? {} : { runId }),
      ...(failure === undefined ? {} : { failure }),
    },
  });
}

/** Removes properties, the largest first, until the payload fits. */
function bounded(payload: unknown): unknown {
  if (sizeOf(payload) <= payloadBytesMax) return payload;
  if (!isJsonObject(payload)) return { message: 'The payload was too large to store.' };
  const kept = Object.entries(payload).sort(([, a], [, b]) => sizeOf(a) - sizeOf(b));
  while (kept.length > 0 && sizeOf(Object.fromEntries(kept)) > payloadBytesMax) kept.pop();
  return Object.fromEntries(kept);
}

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
