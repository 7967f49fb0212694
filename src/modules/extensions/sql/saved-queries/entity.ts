import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  savedQuery,
  type SavedQuery,
  type SavedQueryCommand,
  type SavedQueryEvent,
  type SaveQuery,
} from './saved-query.ts';

export interface SavedQueryEntity {
  readonly kind: 'saved-query';
  readonly state: SavedQuery;
  readonly command: SavedQueryCommand;
  readonly event: SavedQueryEvent;
  readonly facts: Pick<SaveQuery, 'othersInScope'>;
}

export const savedQueryRef = (
  environmentUid: string,
  name: string,
): EntityRef<SavedQueryEntity> => ({
  kind: 'saved-query',
  scope: environmentUid,
  path: [environmentUid, name],
});

/** Not published: a query configures nothing that runs. */
export const savedQueryEntity: EntityDefinition<SavedQueryEntity> = {
  kind: 'saved-query',
  decider: savedQuery,
  facts: (_command, ref, siblings) => ({
    othersInScope: siblings
      .list(ref, ref.path.slice(0, 1))
      .filter((other) => other.name !== ref.path[1]).length,
  }),
  publish: () => [],
};
