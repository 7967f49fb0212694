import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import { environmentName } from '#modules/access/environments/queries.ts';
import { requireIntegration } from '../integrations/queries.ts';
import { connectionEntity, connectionRef } from './entity.ts';
import { type ConnectionQuery, connectionSearch, connectionTotal } from './search.ts';
import type { Connection } from './state.ts';

/** A page of the environment's connections, newest first; without those being deleted. */
export function queryConnections({ view }: ControlPlane, query: ConnectionQuery): Connection[] {
  return view.search(connectionEntity, connectionSearch(query)).map(({ state }) => state);
}

/** How many connections with a matching name a search for something else takes into account. */
const namedMax = 200;

/**
 * The newest connections whose id, or the name or e-mail address of whose end user contains the text, each as
 * `integration/id`.
 */
export function connectionsNamed(
  control: ControlPlane,
  environmentUid: string,
  search: string,
): readonly string[] {
  const found = queryConnections(control, { environmentUid, search, limit: namedMax });
  return found.map(({ integrationKey, connectionId }) => `${integrationKey}/${connectionId}`);
}

/** Connections of the environment, and those of them with an error; without those being deleted. */
export function connectionTotals(
  { view }: ControlPlane,
  environmentUid: string,
): { readonly connections: number; readonly failing: number } {
  return {
    connections: view.count(connectionTotal.all, [environmentUid]),
    failing: view.count(connectionTotal.failing, [environmentUid]),
  };
}

/** Connections of the integration; without those being deleted. */
export const connectionsTotalOf = (
  { view }: ControlPlane,
  environmentUid: string,
  integrationKey: string,
): number => view.count(connectionTotal.ofIntegration, [environmentUid, integrationKey]);

export function findConnection(
  { view }: ControlPlane,
  environmentUid: string,
  integrationKey: string,
  connectionId: string,
): Connection | null {
  const found = view.find(connectionRef(environmentUid, integrationKey, connectionId));
  return found === null || found.isDeleting ? null : found;
}

/** Those of one integration, including those being deleted. */
export function connectionsOfIntegration(
  { view }: ControlPlane,
  environmentUid: string,
  integrationKey: string,
): Connection[] {
  const found = view.list(connectionEntity, [environmentUid, integrationKey]);
  return found.map(({ state }) => state);
}

/**
 * The connection, after this node has caught up with the log if necessary.
 * @throws GatewayError `unknown_connection` (404) or `unknown_provider_config` (404) unless other codes are given; the
 *   message names connection, integration and environment.
 */
export async function requireConnection(
  control: ControlPlane,
  environmentUid: string,
  integrationKey: string,
  connectionId: string,
  otherwise: {
    /** Status of an unknown connection. */
    readonly status?: number;
    readonly code?: ErrorCode;
    readonly integrationCode?: ErrorCode;
    /** Status of an unknown integration; that of the connection when absent. */
    readonly integrationStatus?: number;
  } = {},
): Promise<Connection> {
  const find = (): Connection | null =>
    findConnection(control, environmentUid, integrationKey, connectionId);
  const existing = find();
  if (existing !== null) return existing;
  await control.view.caughtUp();
  const found = find();
  if (found !== null) return found;
  const { status, code = 'unknown_connection', integrationCode } = otherwise;
  const integrationStatus = otherwise.integrationStatus ?? status;
  await requireIntegration(control, environmentUid, integrationKey, {
    code: integrationCode ?? 'unknown_provider_config',
    ...(integrationStatus === undefined ? {} : { status: integrationStatus }),
  });
  const message =
    `The connection "${connectionId}" of the integration "${integrationKey}" does not exist in the environment ` +
    `"${environmentName(control, environmentUid)}" of the key.`;
  throw new GatewayError(code, { message, ...(status === undefined ? {} : { status }) });
}
