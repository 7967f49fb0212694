import { setImmediate as breath } from 'node:timers/promises';
import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import type { AnyRoute } from '../define-route.ts';
import type { AnyStreamRoute } from '../stream-route.ts';
import { operationOf, streamOperation } from './operation.ts';
import { createSchemaPool } from './schemas.ts';

/** Everything that the document describes. */
export interface Endpoints {
  readonly routes: readonly AnyRoute[];
  readonly streamRoutes: readonly AnyStreamRoute[];
}

const bearer = (description: string): JsonObject => ({
  type: 'http',
  scheme: 'bearer',
  description,
});

const securitySchemes: JsonObject = {
  environmentCredential: bearer('`svc_env_…`: an API key of one environment.'),
  accountCredential: bearer('`svc_acct_…`: an API key of the account.'),
  connectCredential: bearer('`svc_connect_session_…`: the token of a connect session.'),
  connectTokenInQuery: {
    type: 'apiKey',
    in: 'query',
    name: 'connect_session_token',
    description: 'The token of a connect session, where a browser navigates.',
  },
};

const description = `Integration gateway: connections, proxy, functions, records and webhooks over an event log.

A request is checked in this order, and only the first part that fails is reported: credentials, rate limit, scope,
content type, query, body, path, headers. \`x-svc-scopes\` names the scopes of which a key needs any one. Every answer
carries \`X-Request-Id\`, and with a rate limit \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`.`;

/**
 * The OpenAPI 3.1 document of the routes; yields to the event loop between routes.
 * @throws Error when two schemas have one name
 */
export async function openapiDocument(
  { routes, streamRoutes }: Endpoints,
  info: { readonly version: string; readonly publicUrl: string },
): Promise<JsonObject> {
  const pool = createSchemaPool();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route, pool);
    await breath();
  }
  for (const route of streamRoutes) {
    const path = (paths[route.path] ??= {});
    for (const method of route.methods) {
      path[method.toLowerCase()] = streamOperation(route, method, pool);
    }
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version: info.version, description, license },
    servers: [{ url: info.publicUrl === '' ? '/' : info.publicUrl }],
    tags: tagsOf(Object.keys(paths)),
    paths,
    components: { securitySchemes, schemas: pool.components, responses: pool.responses },
  };
}

const tagsOf = (paths: readonly string[]): JsonObject[] =>
  [...new Set(paths.map((path) => path.split('/')[1] ?? ''))].map((name) => ({ name }));
