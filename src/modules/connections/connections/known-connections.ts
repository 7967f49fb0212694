import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';

/** Ids of connections are secrets for a caller that may not list them (docs/reference/http.md#scopes). */
export const mayListConnections = (caller: Caller): boolean =>
  caller.has('environment:connections:list');

/** @throws GatewayError `forbidden`: what is of all connections needs the scope to list those */
export function requireConnectionNamed(caller: Caller, connectionId: string | undefined): void {
  if (connectionId !== undefined || mayListConnections(caller)) return;
  const message = 'Without the scope environment:connections:list, name the connection.';
  throw new GatewayError('forbidden', { message });
}
