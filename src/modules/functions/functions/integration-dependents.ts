import type { ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import type { IntegrationDependents } from '#modules/connections/integrations/dependents.ts';
import { functionRef, functionEntity } from './entity.ts';

/** Functions are renamed and deleted with their integration. */
export const functionsOfIntegrations = ({
  view,
}: Pick<ControlPlane, 'view'>): IntegrationDependents => ({
  refuseMove: () => undefined,
  moves: ({ environmentUid, uniqueKey }, target) =>
    view.list(functionEntity, [environmentUid, uniqueKey]).flatMap(({ ref, state }) => [
      commandTo(ref, { type: 'Leave' }),
      commandTo(functionRef(environmentUid, target, state.kind, state.name), {
        type: 'Arrive',
        deployed: { ...state, integrationKey: target },
      }),
    ]),
  removals: ({ environmentUid, uniqueKey }) =>
    view
      .list(functionEntity, [environmentUid, uniqueKey])
      .map(({ ref }) => commandTo(ref, { type: 'Delete' })),
});
