import { setImmediate as breath } from 'node:timers/promises';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { AnyRoute } from '../define-route.ts';
import type { AnyStreamRoute } from '../stream-route.ts';
import { operationOf, streamOperation } from './operation.ts';
import { createSchemaPool, type FieldNames } from './schemas.ts';

/** Everything that the document describes. */
export interface Endpoints {
  readonly routes: readonly AnyRoute[];
  readonly streamRoutes: readonly AnyStreamRoute[];
  readonly tags: readonly Tag[];
  readonly fieldNames: FieldNames;
}

/** A noun, and the paths of its operations: a path belongs to the tag with the longest beginning that fits. */
export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly paths: readonly string[];
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
  { routes, streamRoutes, tags, fieldNames }: Endpoints,
  info: { readonly version: string; readonly publicUrl: string },
): Promise<JsonObject> {
  const pool = createSchemaPool(fieldNames);
  const parts = { pool, tagOf: (path: string) => tagOf(path, tags) };
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route, parts);
    await breath();
  }
  for (const route of streamRoutes) {
    const path = (paths[route.path] ??= {});
    for (const method of route.methods) {
      path[method.toLowerCase()] = streamOperation(route, method, parts);
    }
  }
  const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' };
  return {
    openapi: '3.1.0',
    info: { title: 'svc', version: info.version, description, license },
    servers: [{ url: info.publicUrl === '' ? '/' : info.publicUrl }],
    tags: tags.map(({ name, description: text }) => ({ name, description: text })),
    paths,
    components: { securitySchemes, schemas: pool.components, responses: pool.responses },
  };
}

/** @throws Error for a path without a tag */
function tagOf(path: string, tags: readonly Tag[]): string {
  const fitting = tags.flatMap(({ name, paths }) =>
    paths.filter((start) => path.startsWith(start)).map((start) => ({ name, start })),
  );
  const [tag] = fitting.toSorted((a, b) => b.start.length - a.start.length);
  if (tag === undefined) throw new Error(`no tag for ${path}`);
  return tag.name;
}
