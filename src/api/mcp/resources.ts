import {
  ErrorCode as RpcCode,
  McpError,
  type Resource,
  type ResourceTemplate,
} from '@modelcontextprotocol/sdk/types.js';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { AnyRoute, Caller } from '#http/define-route.ts';
import { errorAnswer } from '#http/error-response.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import { providerRoutes } from '#modules/connections/providers/routes.ts';
import { listFunctions } from '#modules/functions/functions/queries.ts';
import { recordRoutes } from '#modules/records/api/routes.ts';
import { callRoute } from '../call-route.ts';
import type { Services } from '../services.ts';
import type { ResourceServer } from './protocol.ts';

/** The client that reads resources. */
export interface ResourceReader {
  readonly caller: Caller;
  readonly services: Services;
  readonly address: string;
}

/** The connection whose resources are read. */
interface ResourceOwner {
  readonly services: { readonly control: ControlPlane };
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

const recordsUri = 'svc://records/';
const providerUri = 'svc://provider';
const mimeType = 'application/json';

const routeOf = (routes: readonly AnyRoute[], path: string): AnyRoute => {
  const found = routes.find((route) => route.method === 'GET' && route.path === path);
  if (found === undefined) throw new Error(`no route GET ${path}`);
  return found;
};
const recordsRoute = routeOf(recordRoutes, '/records');
const providerRoute = routeOf(providerRoutes, '/providers/{provider}');

/** Records of the connection by model, if the key reads records, and the definition of the provider. */
export function connectionResources(owner: ResourceOwner, reader: ResourceReader): ResourceServer {
  const { environmentUid, integrationKey } = owner.connection;
  const readsRecords = recordsRoute.scopes.some((scope) => reader.caller.has(scope));
  const records = (): Resource[] => {
    if (!readsRecords) return [];
    const filter = { integrationKey, kind: 'sync' } as const;
    const syncs = listFunctions(owner.services.control, environmentUid, filter);
    return [...new Set(syncs.flatMap(({ models }) => models))].map((model) => ({
      uri: recordsUri + model,
      name: model,
      description: `Records of the model ${model}, in the order of their modification; the first page.`,
      mimeType,
    }));
  };
  const templates = (): ResourceTemplate[] => {
    if (!readsRecords) return [];
    const uriTemplate = `${recordsUri}{model}{?cursor,limit,variant}`;
    return [{ uriTemplate, name: 'records', description: 'A page of records.', mimeType }];
  };
  const provider: Resource = {
    uri: providerUri,
    name: 'provider',
    description: 'Definition of the provider: its documentation, scopes, limits, authentication.',
    mimeType,
  };
  return {
    list: () => [provider, ...records()],
    templates,
    read: async (uri) => ({
      contents: [{ uri, mimeType, text: await textOf(uri, owner, reader) }],
    }),
  };
}

/** @throws McpError with the code and fix of the refusal */
async function textOf(uri: string, owner: ResourceOwner, reader: ResourceReader): Promise<string> {
  const { caller, services, address } = reader;
  try {
    const { body } = await callRoute(
      {
        ...requestOf(uri, owner),
        caller,
        address,
        signal: owner.signal,
        readBody: () => Promise.resolve(undefined),
      },
      services,
    );
    return Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new McpError(RpcCode.InvalidParams, error.message, errorAnswer(error).body.error);
  }
}

/** The operation whose response the resource is. */
function requestOf(uri: string, { services, connection }: ResourceOwner) {
  const { environmentUid, integrationKey, connectionId } = connection;
  const names = { 'provider-config-key': integrationKey, 'connection-id': connectionId };
  if (uri === providerUri) {
    const integration = findIntegration(services.control, environmentUid, integrationKey);
    const provider = encodeURIComponent(integration?.provider ?? '');
    const match = { route: providerRoute, params: { provider } };
    return { match, request: { headers: {}, url: providerRoute.path }, search: '' };
  }
  if (!uri.startsWith(recordsUri)) {
    throw new GatewayError('not_found', {
      message: `There is no resource "${uri.slice(0, 255)}".`,
      fix: 'Read a resource that resources/list names.',
    });
  }
  const [model = '', query] = uri.slice(recordsUri.length).split('?', 2);
  const search = [`model=${model}`, ...(query === undefined ? [] : [query])].join('&');
  const match = { route: recordsRoute, params: {} };
  return { match, request: { headers: names, url: recordsRoute.path }, search };
}
