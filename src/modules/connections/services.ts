import { routesWith } from '#http/define-route.ts';
import type { AccessServices } from '#modules/access/services.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { AuthorizationOutcomes } from './authorizations/outcomes.ts';
import type { ConnectionDependents, LifecycleFunctions } from './connections/dependents.ts';
import type { OpenedConnections } from './connections/opened-connections.ts';
import type { Refresher } from './connections/refresher.ts';
import type { IntegrationDependents } from './integrations/dependents.ts';
import type { ProviderCatalogue } from './providers/catalogue.ts';

export interface ConnectionsServices extends AccessServices {
  readonly providers: ProviderCatalogue;
  readonly refresher: Refresher;
  readonly openedConnections: OpenedConnections;
  readonly logs: OperationLogs;
  readonly integrationDependents: readonly IntegrationDependents[];
  readonly connectionDependents: ConnectionDependents;
  readonly lifecycle: LifecycleFunctions;
  readonly authorizationOutcomes: AuthorizationOutcomes;
}

export const defineRoute = routesWith<ConnectionsServices>();
