import type { Services } from '#api/services.ts';
import { entitiesOfEnvironment } from '#modules/access/environments/dependents.ts';
import { integrationsOfEnvironments } from '#modules/connections/integrations/handlers.ts';
import { alertDestinationEntity } from '#modules/extensions/alert-destinations/entity.ts';
import { alertEntity } from '#modules/extensions/alerts/entity.ts';
import { createLifecycleFunctions } from '#modules/functions/actions/lifecycle-functions.ts';
import { functionsOfIntegrations } from '#modules/functions/functions/handlers.ts';
import { syncsOfConnections } from '#modules/functions/syncs/reconcile.ts';
import { variableEntity } from '#modules/functions/variables/entity.ts';
import {
  typedTopicsOfEnvironments,
  typedTopicsOfIntegrations,
} from '#modules/operations/typed-topics/queries.ts';
import { webhookEndpointEntity } from '#modules/webhooks/webhook-endpoints/entity.ts';
import { announceAuthorizations } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';

type Deps = Pick<
  Services,
  'control' | 'vault' | 'clock' | 'logger' | 'providers' | 'publisher' | 'runs'
> & { readonly records: Pick<Services['records'], 'writer'> };

/** What later wings do when an environment, an integration or a connection changes or is deleted. */
export function createDependents(
  deps: Deps,
): Pick<
  Services,
  | 'environmentDependents'
  | 'integrationDependents'
  | 'connectionDependents'
  | 'lifecycle'
  | 'authorizationOutcomes'
> {
  const { control, records, runs } = deps;
  const integrationDependents = [
    typedTopicsOfIntegrations(control),
    functionsOfIntegrations(control),
  ];
  const connectionDependents = syncsOfConnections(control, records.writer);
  return {
    integrationDependents,
    connectionDependents,
    environmentDependents: [
      entitiesOfEnvironment(control, variableEntity, { type: 'Delete' }),
      entitiesOfEnvironment(control, webhookEndpointEntity, { type: 'Delete' }),
      entitiesOfEnvironment(control, alertDestinationEntity, { type: 'Delete' }),
      entitiesOfEnvironment(control, alertEntity, { type: 'Delete' }),
      integrationsOfEnvironments({ ...deps, integrationDependents, connectionDependents }),
      typedTopicsOfEnvironments(control),
    ],
    lifecycle: createLifecycleFunctions(control, runs),
    authorizationOutcomes: announceAuthorizations(deps),
  };
}
