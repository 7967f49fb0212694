import type { Logger } from 'pino';
import type { z } from 'zod';
import { GatewayError, type Issue } from '../kernel/errors.ts';
import type { RouteAnswer } from './define-route.ts';

/** Seconds that a client is asked to wait after a 503 that names no time. */
const retryAfterDefaultS = 1;

/** The uniform error body with its status (contract/errors.md section 1). */
export function errorAnswer(error: GatewayError) {
  const { errors, payload, retryAfterS } = error.details;
  const wait = retryAfterS ?? (error.status === 503 ? retryAfterDefaultS : undefined);
  return {
    status: error.status,
    body: {
      error: {
        code: error.code,
        message: error.message,
        ...(errors ? { errors } : {}),
        ...(payload === undefined ? {} : { payload }),
      },
    },
    ...(wait === undefined ? {} : { headers: { 'retry-after': String(Math.ceil(wait)) } }),
  };
}

/** A request, for the log line and the answers that name it. */
export interface RequestFacts {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}

/** What a thrown error answers; anything but a GatewayError is a bug and says nothing of itself. */
export function refusalOf(
  error: unknown,
  { requestId, method, path }: RequestFacts,
  logger: Pick<Logger, 'error' | 'warn'>,
): RouteAnswer {
  const known = error instanceof GatewayError;
  const facts = { err: error, requestId, method, path };
  if (!known) logger.error(facts, 'request failed');
  else if (error.status >= 500) logger.warn(facts, 'request refused');
  const answer = errorAnswer(known ? error : new GatewayError('server_error'));
  const isLimited = known && error.code === 'too_many_request';
  const shown = isLimited ? { code: error.code, method, path } : answer.body.error;
  return { ...answer, body: { error: { ...shown, request_id: requestId } } };
}

/** Issues as the API shows them: the path as a list of strings. */
export function issuesOf(error: z.ZodError): Issue[] {
  return error.issues.map((issue) => ({
    code: issue.code,
    message: issue.message,
    path: issue.path.map(String),
  }));
}

/** What a schema found in a body that the gate had let through. */
export const bodyIssues = (error: z.ZodError): GatewayError =>
  new GatewayError('invalid_body', { errors: issuesOf(error) });

/** A refusal of the body that a rule beyond its schema found; `path` names the field. */
export function bodyRefused(path: readonly string[], message: string): GatewayError {
  return new GatewayError('invalid_body', { errors: [{ code: 'custom', message, path }] });
}
