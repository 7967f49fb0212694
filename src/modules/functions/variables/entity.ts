import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { variable, type VariableCommand, type VariableEvent, type Variable } from './variable.ts';

export interface VariableEntity {
  readonly kind: 'variable';
  readonly state: Variable;
  readonly command: VariableCommand;
  readonly event: VariableEvent;
  readonly facts: { readonly othersInScope: number };
}

export const variableRef = (environmentUid: string, name: string): EntityRef<VariableEntity> => ({
  kind: 'variable',
  scope: environmentUid,
  path: [environmentUid, name],
});

/** Not published: the catalog of `svc.config.v1` has no variables. */
export const variableEntity: EntityDefinition<VariableEntity> = {
  kind: 'variable',
  decider: variable,
  facts: (_command, ref, siblings) => ({
    othersInScope: siblings
      .list(ref, ref.path.slice(0, 1))
      .filter((other) => other.name !== ref.path[1]).length,
  }),
  publish: () => [],
};
