import type { Logger } from 'pino';
import type { z } from 'zod';
import { errorHints } from '#kernel/error-hints.ts';
import { GatewayError, type Issue } from '#kernel/errors.ts';
import type { RouteAnswer } from './define-route.ts';

/** `Retry-After` of a 503 that names no time, in seconds. */
const retryAfterDefaultS = 1;

/** The uniform error body with its status (docs/reference/errors.md#body) and fix. */
export function errorAnswer(error: GatewayError) {
  const { errors, payload, retryAfterS, fix = errorHints[error.code] } = error.details;
  const { runId, failure } = error.details;
  const wait = retryAfterS ?? (error.status === 503 ? retryAfterDefaultS : undefined);
  return {
    status: error.status,
    body: {
      error: {
        code: error.code,
        message: error.message,
        fix,
        ...(errors ? { errors } : {}),
        ...(payload === undefined ? {} : { payload }),
        ...(runId === undefined ? {} : { run_id: runId }),
        ...(failure === undefined ? {} : { failure }),
      },
    },
    ...(wait === undefined ? {} : { headers: { 'retry-after': String(Math.ceil(wait)) } }),
  };
}

/** Identifies a request in the log line and the response. */
export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}

/**
 * The response to a thrown error. Anything except a GatewayError is a bug and reveals nothing. Failures of the service
 * are logged; what a process that only reads refuses is none.
 */
export function refusalOf(
  error: unknown,
  { requestId, method, path }: RequestFacts,
  logger: Pick<Logger, 'error' | 'warn'>,
): RouteAnswer {
  const existing = error instanceof GatewayError;
  const facts = { err: error, requestId, method, path };
  if (!existing) logger.error(facts, 'request failed');
  else if (error.status >= 500 && error.code !== 'read_only') logger.warn(facts, 'request refused');
  const answer = errorAnswer(existing ? error : new GatewayError('server_error'));
  const isLimited = existing && error.code === 'too_many_request';
  const { code, fix } = answer.body.error;
  const shown = isLimited ? { code, fix, method, path } : answer.body.error;
  return { ...answer, body: { error: { ...shown, request_id: requestId } } };
}

/** Issues as the API shows them: the path as a list of strings; for a union, the issues of the matching alternative. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.flatMap((issue) => issuesAt([], issue));
}

function issuesAt(above: readonly string[], issue: z.core.$ZodIssue): Issue[] {
  const path = [...above, ...issue.path.map(String)];
  if (issue.code !== 'invalid_union') return [{ code: issue.code, message: issue.message, path }];
  // The alternative whose kind matches the value is the intended one.
  const [meant, ...others] = issue.errors.filter((issues) => !issues.every(isOtherKind));
  if (meant !== undefined && others.length === 0)
    return meant.flatMap((route) => issuesAt(path, route));
  const messages = new Set(issue.errors.flat().map(({ message }) => message));
  return [{ code: issue.code, message: [...messages].join('; or: ') || issue.message, path }];
}

const isOtherKind = ({ code, path }: z.core.$ZodIssue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

/** Issues that a schema found in a body after the request pipeline. */
export const bodyIssues = (error: z.ZodError): GatewayError =>
  new GatewayError('invalid_body', { errors: issuesOf(error) });

/** A refusal of the body by a rule beyond its schema; `path` names the field. */
export function bodyRefused(path: readonly string[], message: string): GatewayError {
  return new GatewayError('invalid_body', { errors: [{ code: 'custom', message, path }] });
}
