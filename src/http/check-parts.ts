import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import type { AnyRoute, Caller } from './define-route.ts';
import { issuesOf } from './error-response.ts';
import type { RouteGuards } from './pipeline.ts';
import { parseQuery } from './query.ts';

/** @throws GatewayError `forbidden` */
export function checkScope(route: RouteGuards, caller: Caller): void {
  if (route.credential === 'none') return;
  const isSession = caller.credential === 'connect' && route.takesConnectToken === true;
  const isKind =
    route.credential === 'key'
      ? caller.credential === 'environment' || caller.credential === 'account'
      : caller.credential === route.credential;
  if (!isKind && !isSession) {
    const message = `This endpoint accepts only ${wantedBy[route.credential]}.`;
    throw new GatewayError('forbidden', { message });
  }
  if (route.scopes.length === 0 || route.scopes.some((scope) => caller.has(scope))) return;
  const message = `The key lacks the scope ${route.scopes.join(' or ')}.`;
  throw new GatewayError('forbidden', caller.explainMissing?.(route.scopes) ?? { message });
}

const wantedBy = {
  environment: 'an environment API key',
  account: 'an account API key',
  key: 'an API key',
  connect: 'the token of a connect session',
};

/** The query parsed by the schema. @throws GatewayError `invalid_query_params` */
export function checkQuery<S extends z.ZodType>(schema: S, search: string): z.output<S> {
  return parsePart(schema, parseQuery(search), 'invalid_query_params') as z.output<S>;
}

/** The headers parsed by the schema. @throws GatewayError `invalid_headers` */
export function checkHeaders<S extends z.ZodType>(
  schema: S,
  headers: IncomingMessage['headers'],
): z.output<S> {
  return parsePart(schema, headers, 'invalid_headers') as z.output<S>;
}

/** @throws GatewayError `invalid_content_type` */
export function checkContentType(
  request: Pick<IncomingMessage, 'headers'>,
  { bodyFormat }: Pick<AnyRoute, 'bodyFormat'>,
): void {
  const type = request.headers['content-type'];
  if (bodyFormat === 'form') checkFormType(type);
  else if (type !== undefined && !/^application\/json(?![\w.+-])/i.test(type)) {
    throw new GatewayError('invalid_content_type');
  }
}

function checkFormType(type = ''): void {
  const form = 'application/x-www-form-urlencoded';
  if (type.split(';', 1)[0]?.trim().toLowerCase() === form) return;
  throw new GatewayError('invalid_content_type', {
    message: `The Content-Type is not ${form}.`,
    fix: `Send a form with the header Content-Type: ${form}.`,
  });
}

/**
 * One part of a request parsed by its schema.
 * @param isOptional whether a route without a schema ignores the part instead of refusing any key
 * @throws GatewayError with the code
 */
export function parsePart(
  schema: z.ZodType | undefined,
  value: unknown,
  code: ErrorCode,
  isOptional = false,
): unknown {
  if (schema === undefined) {
    const keys = isOptional ? [] : Object.keys(value as object);
    if (keys.length === 0) return {};
    const message = `Unrecognized keys: ${keys.join(', ')}`;
    throw new GatewayError(code, { errors: [{ code: 'unrecognized_keys', message, path: [] }] });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new GatewayError(code, { errors: issuesOf(parsed.error) });
}

/** The parameters of the path, percent-decoded. @throws GatewayError `invalid_uri_params` */
export function decoded(params: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(
      Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
  } catch (cause) {
    throw new GatewayError('invalid_uri_params', {}, { cause });
  }
}
