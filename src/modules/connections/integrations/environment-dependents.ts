import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import { deleteConnection } from '../connections/deletion.ts';
import { connectionEntity } from '../connections/entity.ts';
import type { ConnectionsServices } from '../services.ts';
import { integrationRef, integrationEntity } from './entity.ts';
import { finishIntegrationDeletion } from './handlers.ts';

type Deps = Pick<
  ConnectionsServices,
  'control' | 'vault' | 'clock' | 'connectionDependents' | 'integrationDependents'
>;

/** Integrations with their connections; connections that were made while their integration was being deleted as well. */
export function integrationsOfEnvironments(deps: Deps): EnvironmentDependents {
  const { control } = deps;
  const { view } = control;
  return {
    async remove(environmentUid, options) {
      for (const { state } of view.list(integrationEntity, [environmentUid])) {
        const ref = integrationRef(environmentUid, state.uniqueKey);
        await control.execute(ref, { type: 'MarkDeleting' }, options);
        await finishIntegrationDeletion(deps, environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.list(connectionEntity, [environmentUid])) {
        await deleteConnection(deps, state, options);
      }
    },
    async resume(options) {
      for (const { state } of view.listBy(integrationEntity, 'deleting', 'yes')) {
        await finishIntegrationDeletion(deps, state.environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.listBy(connectionEntity, 'deleting', 'yes')) {
        await deleteConnection(deps, state, options);
      }
    },
  };
}
