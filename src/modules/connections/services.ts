import { routesWith } from '#http/define-route.ts';
import type { AddressSettings, CommonServices } from '#modules/access/services.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { AuthorizationOutcomes } from './authorizations/outcomes.ts';
import type { ConnectionDependents, LifecycleFunctions } from './connections/dependents.ts';
import type { OpenedConnections } from './connections/opened-connections.ts';
import type { Refresher } from './connections/refresher.ts';
import type { IntegrationDependents } from './integrations/dependents.ts';
import type { ProviderCatalogue } from './providers/catalogue.ts';

export interface ProviderAccess {
  readonly providers: ProviderCatalogue;
  readonly http: HttpClient;
  readonly logs: OperationLogs;
  readonly coordination: Coordination;
}

export interface ConnectionParts {
  readonly refresher: Refresher;
  readonly openedConnections: OpenedConnections;
  readonly authorizationOutcomes: AuthorizationOutcomes;
}

/** What other wings do when an integration or a connection changes or is deleted. */
export interface ConnectionFollowers {
  readonly integrationDependents: readonly IntegrationDependents[];
  readonly connectionDependents: ConnectionDependents;
  readonly lifecycle: LifecycleFunctions;
}

export interface ConnectSettings extends AddressSettings {
  /** Origins whose pages may frame the connect page, in the syntax of Content-Security-Policy. */
  readonly connectOrigins: readonly string[];
}

/** Services of the routes of this wing. */
export type ConnectionsServices = CommonServices &
  ProviderAccess &
  ConnectionParts &
  ConnectionFollowers & { readonly settings: ConnectSettings };

export const defineRoute = routesWith<ConnectionsServices>();
