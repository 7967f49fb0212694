import { ApiError } from '#client/index.ts';
import type { Failure } from '../design/states.tsx';

/** What a page shows of an error. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError))
    return { message: messageOfError(error), code: null, fix: null, requestId: null };
  const { message, code, fix, body } = error;
  return { message, code, fix, requestId: requestIdOf(body) };
}

const messageOfError = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** `error.request_id` of a refusal. */
function requestIdOf(body: unknown): string | null {
  if (!isObject(body) || !isObject(body['error'])) return null;
  const id = body['error']['request_id'];
  return typeof id === 'string' ? id : null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
