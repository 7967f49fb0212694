import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { listKeys } from '#modules/access/api-keys/queries.ts';
import { holdsScope } from '#modules/access/api-keys/scopes.ts';
import {
  entitiesOfEnvironment,
  type EnvironmentDependents,
} from '#modules/access/environments/dependents.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { AuthorizationOutcomes } from '#modules/connections/authorizations/outcomes.ts';
import { integrationsOfEnvironments } from '#modules/connections/integrations/handlers.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { ConnectionFollowers } from '#modules/connections/services.ts';
import { extensions } from '#modules/extensions/registered.ts';
import { createLifecycleFunctions } from '#modules/functions/actions/lifecycle-functions.ts';
import { functionsOfIntegrations } from '#modules/functions/functions/handlers.ts';
import type { FindRecordReaders } from '#modules/functions/functions/record-readers.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { syncsOfConnections } from '#modules/functions/syncs/reconcile.ts';
import { variableEntity } from '#modules/functions/variables/entity.ts';
import { customProjectionsOfEnvironments } from '#modules/operations/custom-projections/handlers.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import { webhookEndpointEntity } from '#modules/webhooks/webhook-endpoints/entity.ts';
import { listEndpoints } from '#modules/webhooks/webhook-endpoints/queries.ts';
import { announceAuthorizations } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';

interface Deps extends SealedEntities, ProcessPorts {
  readonly http: HttpClient;
  readonly logs: OperationLogs;
  readonly providers: ProviderCatalogue;
  readonly publisher: Publisher;
  readonly runs: RunsClient;
  readonly records: { readonly writer: RecordWriter };
}

/** What later wings do when an environment, an integration or a connection changes or is deleted. */
export function createDependents(deps: Deps): ConnectionFollowers & {
  readonly environmentDependents: readonly EnvironmentDependents[];
  readonly authorizationOutcomes: AuthorizationOutcomes;
} {
  const { control, records, runs } = deps;
  const integrationDependents = [
    ...extensions.flatMap((one) => one.integrationDependents?.(control) ?? []),
    functionsOfIntegrations(control),
  ];
  const connectionDependents = syncsOfConnections(control, records.writer);
  return {
    integrationDependents,
    connectionDependents,
    environmentDependents: [
      entitiesOfEnvironment(control, variableEntity, { type: 'Delete' }),
      entitiesOfEnvironment(control, webhookEndpointEntity, { type: 'Delete' }),
      customProjectionsOfEnvironments(control),
      integrationsOfEnvironments({ ...deps, integrationDependents, connectionDependents }),
      ...extensions.flatMap((one) => one.environmentDependents?.(control) ?? []),
    ],
    lifecycle: createLifecycleFunctions(control, runs),
    authorizationOutcomes: announceAuthorizations(deps),
  };
}

/** Collects from later wings who reads records of a model. */
export const findRecordReaders =
  (control: ControlPlane): FindRecordReaders =>
  (environmentUid, integrationKey, model) => ({
    api_keys: listKeys(control, environmentUid)
      .filter(({ scopes }) => holdsScope(scopes, 'environment:records:read'))
      .map(({ displayName }) => displayName),
    webhook_endpoints: listEndpoints(control, environmentUid)
      .filter(
        (endpoint) =>
          endpoint.isEnabled &&
          (endpoint.kinds === null || endpoint.kinds.includes('sync')) &&
          [null, integrationKey].includes(endpoint.integrationKey),
      )
      .map(({ displayName }) => displayName),
    typed_topics: extensions.flatMap(
      (one) => one.topicsOfModel?.(control, environmentUid, integrationKey, model) ?? [],
    ),
  });
