import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import { functionRef } from './entity.ts';
import type { DeployedFunction } from './state.ts';

/** Functions are renamed and deleted with their integration. */
export const functionsOfIntegrations = ({
  view,
}: Pick<ControlPlane, 'view'>): IntegrationDependents => ({
  refuseMove: () => undefined,
  moves: ({ environmentUid, uniqueKey }, target) =>
    view
      .list<DeployedFunction>('function', [environmentUid, uniqueKey])
      .flatMap(({ ref, state }) => [
        { ref, body: { type: 'Leave' } },
        {
          ref: functionRef(environmentUid, target, state.kind, state.name),
          body: { type: 'Arrive', deployed: { ...state, integrationKey: target } },
        },
      ]),
  removals: ({ environmentUid, uniqueKey }) =>
    view
      .list('function', [environmentUid, uniqueKey])
      .map(({ ref }) => ({ ref, body: { type: 'Delete' } })),
});
