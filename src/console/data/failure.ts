import { ApiError } from '#client/index.ts';
import type { Failure } from '../design/states.tsx';

/** What a page shows of an error. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError))
    return { message: messageOfError(error), code: null, fix: null, requestId: null };
  const { message, code, fix, body } = error;
  return { message, code, fix, requestId: requestIdOf(body) };
}

/** The run in which a function failed, and where; null of another refusal. */
export function failedRunOf(
  error: unknown,
): { readonly id: string; readonly location: string | null } | null {
  const refusal = error instanceof ApiError && isObject(error.body) ? error.body['error'] : null;
  if (!isObject(refusal) || typeof refusal['run_id'] !== 'string') return null;
  const { failure } = refusal;
  const location = isObject(failure) ? failure['location'] : null;
  return { id: refusal['run_id'], location: typeof location === 'string' ? location : null };
}

/** What the service refused of each field of a body, by its path: `credentials.client_id`. */
export function fieldProblemsOf(error: unknown): ReadonlyMap<string, string> {
  const refusal = error instanceof ApiError && isObject(error.body) ? error.body['error'] : null;
  const issues: unknown = isObject(refusal) ? refusal['errors'] : null;
  if (!Array.isArray(issues)) return new Map();
  return new Map(issues.filter(isIssue).map(({ path, message }) => [path.join('.'), message]));
}

const isIssue = (issue: unknown): issue is { path: readonly string[]; message: string } =>
  isObject(issue) && Array.isArray(issue['path']) && typeof issue['message'] === 'string';

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
