import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { variable, type VariableCommand } from './decider.ts';
import type { VariableEvent } from './events.ts';
import type { Variable } from './state.ts';

export const variableRef = (environmentUid: string, name: string): EntityRef => ({
  kind: 'variable',
  scope: environmentUid,
  path: [environmentUid, name],
});

/** Not published: the catalog of `svc.config.v1` has no variables. */
export const variableEntity: EntityDefinition<Variable, VariableCommand, VariableEvent> = {
  kind: 'variable',
  decider: variable,
  facts: (_command, ref, siblings) => ({
    othersInScope: siblings
      .list<Variable>('variable', ref.path.slice(0, 1))
      .filter((other) => other.name !== ref.path[1]).length,
  }),
  publish: () => [],
};
