import { z } from 'zod';
import { errorHints } from '#kernel/error-hints.ts';
import { catalogue, type ErrorCode } from '#kernel/errors.ts';
import { objectOf, type Json, type JsonObject, isJsonObject } from '#kernel/stable-json.ts';
import { type AnyRoute, codeOf, statusOf } from '../define-route.ts';
import { failureShape } from '../failure-shape.ts';
import { pipelineErrors } from '../pipeline.ts';
import { type Responses, type ResponseShape, anyJson } from '../responses.ts';
import type { AnyStreamRoute } from '../stream-route.ts';
import { type SchemaPool, resolved } from './schemas.ts';

/** The location of a parameter. */
type ParameterLocation = 'path' | 'query' | 'header';

/** The document that operations are parts of. */
interface Parts {
  readonly pool: SchemaPool;
  readonly tagOf: (path: string) => string;
}

/** A route as an operation of the document. */
export function operationOf(route: AnyRoute, { pool, tagOf }: Parts): JsonObject {
  const { method, path, summary } = route;
  const body = route.body as z.ZodType | undefined;
  return {
    operationId: operationId(method, path),
    summary,
    description: descriptionOf(route, method),
    tags: [tagOf(path)],
    ...(route.deprecation !== undefined ? { deprecated: true } : {}),
    ...security(route),
    parameters: [
      ...parameters(route.params as z.ZodType | undefined, 'path', pool),
      ...parameters(route.query as z.ZodType | undefined, 'query', pool),
      ...parameters(route.headers as z.ZodType | undefined, 'header', pool),
      ...(takesIdempotencyKey(route) ? [idempotencyKey] : []),
    ],
    ...(body === undefined ? {} : { requestBody: requestBody(route, pool.input(body), pool) }),
    responses: { ...answers(route, pool), ...refusals(route, pool) },
  };
}

/** A route whose response streams. */
export function streamOperation(route: AnyStreamRoute, method: string, parts: Parts): JsonObject {
  return route.answers === undefined
    ? passingOperation(route, method, parts)
    : ownStreamOperation(route, route.answers, method, parts);
}

/** A streaming route with a response of its own. */
function ownStreamOperation(
  route: AnyStreamRoute,
  answered: Responses,
  method: string,
  { pool, tagOf }: Parts,
): JsonObject {
  const { path, summary, query, headers } = route;
  const own = Object.entries(answered).map(([status, shape]) => [status, answer(shape, pool)]);
  return {
    operationId: operationId(method, path),
    summary,
    description: descriptionOf(route, method),
    tags: [tagOf(path)],
    ...security(route),
    parameters: [...parameters(query, 'query', pool), ...parameters(headers, 'header', pool)],
    responses: { ...(Object.fromEntries(own) as JsonObject), ...refusals(route, pool) },
  };
}

/** A route that passes request and response through: their bodies are not described. */
function passingOperation(
  route: AnyStreamRoute,
  method: string,
  { pool, tagOf }: Parts,
): JsonObject {
  const any = { '*/*': { schema: {} } };
  return {
    operationId: operationId(method, route.path),
    summary: route.summary,
    description: descriptionOf(route, method),
    tags: [tagOf(route.path)],
    ...security(route),
    parameters: [
      ...parameters(route.params, 'path', pool),
      ...parameters(route.headers, 'header', pool),
    ],
    ...(method === 'GET' ? {} : { requestBody: { content: any } }),
    responses: {
      ...anyBeside(refusals(route, pool)),
      default: { description: 'What the provider answered.', content: any },
    },
  };
}

/** A passed-through response may have the same status. */
const anyBeside = (refusals: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(refusals).map(([status, response]) => {
      const { content, ...existing } = response as JsonObject;
      return [
        status,
        { ...existing, content: { ...(content as JsonObject), '*/*': { schema: {} } } },
      ];
    }),
  );

/** `GET /connections/{connectionId}` is `getConnectionsByConnectionId`. */
function operationId(method: string, path: string): string {
  const words = path.split('/').flatMap((part) => {
    if (part.startsWith('{')) return ['by', part.slice(1, -1)];
    return part.split(/[^a-zA-Z0-9]+/);
  });
  const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.map(capital).join('');
}

/** What the route says of itself, and who may call it. */
function descriptionOf(route: AnyRoute | AnyStreamRoute, method: string): string {
  const { credential, scopes, description } = route;
  const held = { environment: 'an environment key', account: 'an account key', key: 'any key' };
  const scoped = scopes.length === 0 ? '' : ` with any one of the scopes ${listed(scopes)}`;
  const token = 'takesConnectToken' in route ? ', or the token of a connect session' : '';
  const access =
    credential === 'none'
      ? 'Needs no credential.'
      : credential === 'connect'
        ? 'Needs the token of a connect session.'
        : `Needs ${held[credential]}${scoped}${token}.`;
  const isOnce = !('prefix' in route) && takesIdempotencyKey(route) && method !== 'DELETE';
  const once = isOnce ? ' With an `Idempotency-Key` a repeated request is done once.' : '';
  return [...(description === undefined ? [] : [description]), access + once].join('\n\n');
}

const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

function security(route: AnyRoute | AnyStreamRoute): JsonObject {
  const { credential, scopes } = route;
  if (credential === 'none') return { security: [] };
  const inQuery = 'tokenIn' in route;
  const withToken = 'takesConnectToken' in route;
  const kinds = credential === 'key' ? (['environment', 'account'] as const) : [credential];
  const own = inQuery ? ['connectTokenInQuery'] : kinds.map((kind) => `${kind}Credential`);
  return {
    security: [
      ...own.map((name) => ({ [name]: [] })),
      ...(withToken ? [{ connectCredential: [] }] : []),
    ],
    'x-svc-scopes': scopes,
  };
}

/** Parameters that OpenAPI does not allow: it describes them in other ways. */
const reserved = new Set(['accept', 'authorization', 'content-type', 'connect_session_token']);

function parameters(
  schema: z.ZodType | undefined,
  place: ParameterLocation,
  pool: SchemaPool,
): Json[] {
  if (schema === undefined) return [];
  const { properties, required } = pool.input(schema);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(objectOf(properties))
    .filter(([name]) => !reserved.has(name))
    .map(([name, member]) => {
      const { description = '', ...existing } = member as JsonObject;
      const isObject = existing['type'] === 'object';
      const isNeeded = place === 'path' || needed.includes(name);
      return {
        name,
        in: place,
        description,
        required: isNeeded,
        ...(isObject && place === 'query' ? { style: 'deepObject', explode: true } : {}),
        schema: existing,
        ...(isNeeded ? { example: exampleOf(existing, pool.components) } : {}),
      };
    });
}

const takesIdempotencyKey = ({ method, credential }: AnyRoute): boolean =>
  method !== 'GET' && credential !== 'none';

const idempotencyKey: JsonObject = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key is answered as the first was, for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function requestBody(route: AnyRoute, schema: JsonObject, pool: SchemaPool): JsonObject {
  const example = exampleOf(schema, pool.components);
  const isForm = route.bodyFormat === 'form';
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    // An empty body is parsed as {}.
    required: !(route.body as z.ZodType).safeParse({}).success,
    content: { [type]: { schema, example } },
  };
}

function answers(route: AnyRoute, pool: SchemaPool): JsonObject {
  const entries = Object.entries(route.answers ?? {}).map(([status, shape]) => {
    return [status, answer(shape, pool)] as const;
  });
  return Object.fromEntries(entries);
}

function answer(
  { description, type, otherTypes = [], schema }: ResponseShape,
  pool: SchemaPool,
): JsonObject {
  if (type === null) return { description };
  if (schema === null) {
    const text = { schema: { type: 'string' } };
    const types = [type, ...otherTypes].map((one) => [one, text]);
    return { description, content: Object.fromEntries(types) as JsonObject };
  }
  const existing = withResult(pool.output(schema), description);
  const example = exampleOf(existing, pool.components);
  const others = otherTypes.map((one) => [one, { schema: { type: 'string' } }] as const);
  const all = { [type]: { schema: existing, example }, ...Object.fromEntries(others) };
  return { description, content: all };
}

/** `data` of a response is what the response is said to be. */
function withResult(schema: JsonObject, description: string): JsonObject {
  const properties = objectOf(schema['properties']);
  const { data } = properties;
  if (!isJsonObject(data) || 'description' in data) return schema;
  return { ...schema, properties: { ...properties, data: { description, ...data } } };
}

/** Refusals that most operations share. */
const sharedNames: Readonly<Record<number, string>> = {
  401: 'Unauthenticated',
  403: 'Forbidden',
  415: 'NotJson',
  429: 'TooManyRequests',
  500: 'ServerError',
  503: 'Unavailable',
};

/** A status that is both a refusal and a regular response has both bodies. */
function refusals(route: AnyRoute | AnyStreamRoute, pool: SchemaPool): JsonObject {
  const error = pool.output(refusalShape);
  const isStream = 'prefix' in route;
  const entries = [...refusalCodes(route)].map(([status, codes]) => {
    const response = refusalResponse(status, codes, error);
    const own =
      'answers' in route ? (route.answers as Responses | undefined)?.[status]?.schema : undefined;
    const withOwn = own ? besides(response, pool.output(own)) : response;
    const whole = isShownToPeople(route) ? withPage(withOwn) : withOwn;
    return [String(status), isStream ? whole : pool.shared(sharedNames[status], whole)] as const;
  });
  return { ...Object.fromEntries(entries), ...unread(error, isStream ? null : pool) };
}

/**
 * Refusals of the server before it knows the operation: a request that is too slow, or whose line and headers are
 * too long.
 */
function unread(error: JsonObject, pool: SchemaPool | null): JsonObject {
  const refused = (status: number, name: string) => {
    const response = refusalResponse(status, ['invalid_request'], error);
    return pool?.shared(name, response) ?? response;
  };
  return { 408: refused(408, 'TooSlow'), 431: refused(431, 'HeadersTooLong') };
}

function besides(response: Record<string, Json>, own: JsonObject): JsonObject {
  const { schema, example } = (response['content'] as JsonObject)['application/json'] as JsonObject;
  const both = { schema: { anyOf: [schema ?? {}, own] }, example: example ?? null };
  return { ...response, content: { 'application/json': both } };
}

const isShownToPeople = (route: AnyRoute | AnyStreamRoute): boolean => 'refusalPage' in route;

function withPage(response: JsonObject): JsonObject {
  const content = response['content'] as JsonObject;
  return { ...response, content: { ...content, 'text/html': { schema: { type: 'string' } } } };
}

const ofFormats: Readonly<Record<string, string>> = {
  uuid: '6f1c0c6e-5d0b-4d0e-9d57-0a4b3d8c1f11',
  'date-time': '2026-02-01T08:00:00.000Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
};

/** A value that a schema allows: its own example if it has one, otherwise one composed of its parts. */
function exampleOf(schema: JsonObject, components: JsonObject): Json {
  const existing = resolved(schema, components);
  const { examples, default: standard, enum: values, anyOf, oneOf } = existing;
  if ('const' in existing) return existing['const'] ?? null;
  const first = [examples, values].find(isFilled)?.[0];
  if (first !== undefined) return first;
  if (standard !== undefined) return standard;
  const choice = [anyOf, oneOf].find(isFilled)?.[0];
  if (isJsonObject(choice)) return exampleOf(choice, components);
  return ofType(existing, components);
}

const isFilled = (value: Json | undefined): value is Json[] =>
  Array.isArray(value) && value.length > 0;

function ofType(schema: JsonObject, components: JsonObject): Json {
  const { type, minimum, format, items } = schema;
  if (Array.isArray(type) && type.includes('null')) return null;
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return ofObject(schema, components);
    case 'array':
      return isJsonObject(items) ? [exampleOf(items, components)] : [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' && minimum > 0 ? minimum : 0;
    case 'boolean':
      return true;
    case 'string':
      return (typeof format === 'string' ? ofFormats[format] : undefined) ?? 'text';
    default:
      return type === 'null' ? null : {};
  }
}

/** Optional members are omitted, except those with an example. */
function ofObject(schema: JsonObject, components: JsonObject): JsonObject {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return {};
  const needed = Array.isArray(required) ? required : [];
  const shown = Object.entries(properties).filter(([name, member]) => {
    return needed.includes(name) || (isJsonObject(member) && isFilled(member['examples']));
  });
  return Object.fromEntries(
    shown.map(([name, member]) => [name, exampleOf(member as JsonObject, components)]),
  );
}

const issue = z.strictObject({
  code: z.string(),
  message: z.string(),
  path: z.array(z.string()).describe('Names of the fields from the root to the invalid value.'),
});

/** The uniform body of a refusal (docs/reference/errors.md#body). */
const refusalShape = z
  .strictObject({
    error: z
      .strictObject({
        code: z.string().meta({ description: 'Stable name of what went wrong.' }),
        message: z.string().optional(),
        fix: z.string().optional().meta({ description: 'What to do about it.' }),
        errors: z.array(issue).optional().meta({ description: 'What is wrong with which part.' }),
        payload: anyJson.optional().describe('Details of the failure, by its code.'),
        upstream: anyJson.optional().meta({ description: 'What the provider answered.' }),
        run_id: z.string().optional().meta({ description: 'The run that failed.' }),
        failure: failureShape
          .optional()
          .meta({ description: 'Where and why the code of a function failed.' }),
        method: z.string().optional().meta({ description: 'Of a 429.' }),
        path: z.string().optional().meta({ description: 'Of a 429.' }),
        request_id: z.uuid().optional().meta({ description: 'Of `X-Request-Id`.' }),
      })
      .describe('The refusal.'),
  })
  .meta({ id: 'Error' });

/** Every error code of the route, by status. */
function refusalCodes(route: AnyRoute | AnyStreamRoute): Map<number, ErrorCode[]> {
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
function refusalResponse(
  status: number,
  codes: readonly ErrorCode[],
  error: JsonObject,
): Record<string, Json> {
  const [first = 'server_error'] = codes;
  const { message } = catalogue[first];
  const example = { error: { code: first, message, fix: errorHints[first] } };
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].message}`).join('\n\n'),
    // Codes in the schema would give generated clients a type of errors for each response.
    'x-svc-error-codes': codes,
    ...(waits.has(status) ? { headers: retryAfter } : {}),
    content: { 'application/json': { schema: error, example } },
  };
}
