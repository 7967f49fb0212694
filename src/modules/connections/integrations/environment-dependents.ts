import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import { deleteConnection } from '../connections/deletion.ts';
import type { Connection } from '../connections/state.ts';
import type { ConnectionsServices } from '../services.ts';
import { integrationRef } from './entity.ts';
import { finishIntegrationDeletion } from './handlers.ts';
import type { Integration } from './state.ts';

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
      for (const { state } of view.list<Integration>('integration', [environmentUid])) {
        const ref = integrationRef(environmentUid, state.uniqueKey);
        await control.execute(ref, { type: 'MarkDeleting' }, options);
        await finishIntegrationDeletion(deps, environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.list<Connection>('connection', [environmentUid])) {
        await deleteConnection(deps, state, options);
      }
    },
    async resume(options) {
      for (const { state } of view.listBy<Integration>('integration', 'deleting', 'yes')) {
        await finishIntegrationDeletion(deps, state.environmentUid, state.uniqueKey, options);
      }
      for (const { state } of view.listBy<Connection>('connection', 'deleting', 'yes')) {
        await deleteConnection(deps, state, options);
      }
    },
  };
}
