import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { readForm, readJson } from '#http/body.ts';
import { checkContentType, checkScope, decoded, parsePart } from '#http/check-parts.ts';
import type { AnyRoute, Caller, IdempotentCall, RouteAnswer } from '#http/define-route.ts';
import {
  anonymous,
  isWriting,
  type Authorization,
  type PipelineCall,
  type RequestPipeline,
} from '#http/pipeline.ts';
import { parseQuery } from '#http/query.ts';
import { takeQuota, type Quota } from '#http/rate-limit.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '#http/server.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { readOnlyRefusal } from '#kernel/read-only.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { auditRule, type AuditRule } from '#modules/access/audit/audited-routes.ts';
import { audited, type AuditCall } from '#modules/access/audit/audited.ts';
import { withIdempotencyKey } from '#modules/access/idempotent-requests/handlers.ts';
import { openAuthenticator, type Authenticator } from './authenticate.ts';
import type { Services } from './services.ts';

type Schema = z.ZodType | undefined;

/** The cost of a call without a valid key (docs/reference/http.md#rate-limit). */
const anonymousCost = 10;

/** Opens the only path to the handlers: authentication, limits, audit, idempotent requests. */
export async function openRequestPipeline(services: Services): Promise<RequestPipeline> {
  const authenticator = await openAuthenticator(services);
  return {
    handleRequest: (call) => handleRequest(call, services, authenticator),
    authorize: (call) => authorize(call, services, authenticator),
    [Symbol.asyncDispose]: () => authenticator[Symbol.asyncDispose](),
  };
}

/**
 * The only path to a handler. Order: credentials, rate limit, whether this process writes, scope, content type, query,
 * body, path, headers. The first part that fails determines the response, with all of its issues
 * (docs/reference/errors.md#order-of-checks).
 */
async function handleRequest(
  call: PipelineCall,
  services: Services,
  authenticator: Authenticator,
): Promise<RouteAnswer> {
  const { route } = call.match;
  const caller = await authorize({ ...call, route }, services, authenticator);
  const rule = ruleOf(route);
  if (rule === null) return handled(call, caller, services);
  const audit: AuditCall = { rule, caller, address: call.address, given: null };
  return audited(services, audit, () => handled(call, caller, services, audit));
}

const auditRules = new WeakMap<AnyRoute, AuditRule | null>();

function ruleOf(route: AnyRoute): AuditRule | null {
  const existing = auditRules.get(route);
  if (existing !== undefined) return existing;
  const rule = auditRule(route);
  auditRules.set(route, rule);
  return rule;
}

/** @param audit receives the parsed request */
async function handled(
  call: PipelineCall,
  caller: Caller,
  services: Services,
  audit?: AuditCall,
): Promise<RouteAnswer> {
  const { route, params } = call.match;
  checkScope(route, caller);
  checkContentType(call.request, route);
  const query = parsePart(route.query as Schema, parseQuery(call.search), 'invalid_query_params');
  const sent = route.body === undefined ? undefined : await bodyOf(call.request, route);
  const body =
    route.body === undefined ? {} : parsePart(route.body as Schema, sent ?? {}, 'invalid_body');
  const path = parsePart(route.params as Schema, decoded(params), 'invalid_uri_params', true);
  const headers = parsePart(route.headers as Schema, call.request.headers, 'invalid_headers', true);
  const idempotency = idempotencyOf(call, sent, services);
  if (audit !== undefined) audit.given = { params: path, query, body };
  const { signal, address } = call;
  const input = { query, body, params: path, headers, caller, services, address, signal };
  if (idempotency === undefined || caller.credential === 'none') return route.handle(input);
  const task = (workId: string): Promise<RouteAnswer> =>
    route.handle({ ...input, idempotency: { ...idempotency, workId } });
  return withIdempotencyKey(services, { caller, signal, idempotency }, task);
}

const bodyOf = (request: IncomingMessage, { bodyFormat }: AnyRoute): Promise<unknown> =>
  bodyFormat === 'form' ? readForm(request) : readJson(request);

/** As `RequestPipeline.authorize`. */
function authorize(
  call: Authorization,
  services: Services,
  authenticator: Authenticator,
): Caller | Promise<Caller> {
  const caller = countedCaller(call, services, authenticator);
  return services.settings.isReadOnly && isWriting(call.route) ? refuseWrite(caller) : caller;
}

/** @throws GatewayError `read_only`, or why the caller may not call at all */
async function refuseWrite(caller: Caller | Promise<Caller>): Promise<never> {
  await caller;
  throw readOnlyRefusal();
}

function countedCaller(
  call: Authorization,
  services: Services,
  authenticator: Authenticator,
): Caller | Promise<Caller> {
  const { route, request, address } = call;
  if (route.isUnlimited) return anonymous;
  const mayBeKnown = route.credential !== 'none' && route.tokenIn !== 'query';
  const existing = mayBeKnown
    ? authenticator.knownCaller(request.headers.authorization, address)
    : null;
  if (existing === null) return authorizeUnknown(call, services, authenticator);
  const counted = count(call, services, `key:${existing.keyId}`, 1);
  return counted === undefined ? existing : counted.then(() => existing);
}

/** @throws GatewayError `too_many_request` */
function count(
  call: Authorization,
  services: Services,
  who: string,
  cost: number,
): Promise<void> | undefined {
  const limit = services.settings.rateLimitPerMinute;
  const use = ({ headers, refusal }: Quota): void => {
    for (const name of Object.keys(headers)) call.setHeader(name, headers[name] ?? '');
    if (refusal) throw refusal;
  };
  const quota = takeQuota(services, who, { cost, limit });
  if (quota instanceof Promise) return quota.then(use);
  use(quota);
  return undefined;
}

async function authorizeUnknown(
  call: Authorization,
  services: Services,
  authenticator: Authenticator,
): Promise<Caller> {
  const { route, address, request } = call;
  if (route.credential === 'none') {
    await count(call, services, `address:${address}`, 1);
    return anonymous;
  }
  let caller: Caller;
  try {
    caller =
      route.tokenIn === 'query'
        ? await authenticator.sessionCallerOf(queryToken(call.search ?? ''))
        : await (authenticator.consoleCallerOf(request, route, address) ??
            authenticator.callerOf(request.headers.authorization, address));
  } catch (error) {
    await count(call, services, `address:${address}`, anonymousCost);
    throw error;
  }
  await count(call, services, `key:${caller.keyId}`, 1);
  return caller;
}

/**
 * The token of a connect session in the query (docs/reference/http.md#credentials).
 * @throws GatewayError `missing_public_key`, `deprecated_authentication`
 */
function queryToken(search: string): string {
  const { connect_session_token: token, public_key: publicKey } = parseQuery(search);
  if (typeof token === 'string' && token !== '') return token;
  throw new GatewayError(
    publicKey === undefined ? 'missing_public_key' : 'deprecated_authentication',
  );
}

function idempotencyOf(
  call: PipelineCall,
  sent: unknown,
  services: Services,
): IdempotentCall | undefined {
  const header = call.request.headers['idempotency-key'];
  if (header === undefined || call.match.route.method === 'GET') return undefined;
  if (
    typeof header !== 'string' ||
    header === '' ||
    header.length > limits.idempotencyKeyCharsMax
  ) {
    const message = `Idempotency-Key must have 1 to ${limits.idempotencyKeyCharsMax} characters.`;
    const path = ['idempotency-key'];
    throw new GatewayError('invalid_headers', { errors: [{ code: 'custom', message, path }] });
  }
  const requestText = [call.match.route.method, call.request.url, JSON.stringify(sent)].join('\n');
  const requestHash = services.vault.fingerprint('idempotent-request', requestText);
  return { idempotencyKey: header, requestHash };
}

interface ApiServerOptions extends Omit<HttpServerOptions, 'pipeline' | 'services'> {
  readonly services: Services;
}

/** The HTTP server behind the request pipeline. Listens when it resolves. */
export async function startApiServer(options: ApiServerOptions): Promise<HttpServer> {
  await using stack = new AsyncDisposableStack();
  const pipeline = stack.use(await openRequestPipeline(options.services));
  const homePage = () => consolePath(options.services.settings.publicUrl);
  const server = stack.use(await createHttpServer({ ...options, pipeline, homePage }));
  const opened = stack.move();
  return {
    url: server.url,
    port: server.port,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A proxy may serve the gateway below a path. */
const consolePath = (publicUrl: string): string =>
  `${withoutTrailingSlashes(new URL(publicUrl).pathname)}/console`;
