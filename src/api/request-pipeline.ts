import type { IncomingMessage } from 'node:http';
import { readForm, readJson } from '#http/body.ts';
import type { AnyRoute, Caller, RouteAnswer } from '#http/define-route.ts';
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
import { readOnlyRefusal } from '#kernel/read-only.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import { openAuthenticator, type Authenticator } from './authenticate.ts';
import { callRoute } from './call-route.ts';
import type { Services } from './services.ts';

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
  const readBody = (): Promise<unknown> => bodyOf(call.request, route);
  return callRoute({ ...call, caller, readBody }, services);
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
