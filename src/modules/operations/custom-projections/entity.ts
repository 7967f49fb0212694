import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { projectionRef, projectionsScope } from '../projections/entity.ts';
import {
  customProjection,
  type CustomProjection,
  type CustomProjectionCommand,
  type CustomProjectionEvent,
} from './custom-projection.ts';

export interface CustomProjectionEntity {
  readonly kind: 'custom-projection';
  readonly state: CustomProjection;
  readonly command: CustomProjectionCommand;
  readonly event: CustomProjectionEvent;
  readonly facts: {
    readonly versionsInUse: readonly number[];
    readonly othersInEnvironment: number;
  };
}

/** In the scope of the projections, so that its definition and its generations are decided together. */
export const customProjectionRef = (
  environmentUid: string,
  name: string,
): EntityRef<CustomProjectionEntity> => ({
  kind: 'custom-projection',
  scope: projectionsScope,
  path: [environmentUid, name],
});

/** Not published: its generations are, on `svc.projections.v1`. */
export const customProjectionEntity: EntityDefinition<CustomProjectionEntity> = {
  kind: 'custom-projection',
  decider: customProjection,

  facts(command, ref, siblings) {
    if (command.type !== 'Deploy') return {};
    const generations = siblings.find(projectionRef(command.parts.projection))?.generations;
    const [environmentUid = '', name = ''] = ref.path;
    return {
      versionsInUse: generations?.map(({ schemaVersion }) => schemaVersion) ?? [1],
      othersInEnvironment: siblings
        .list(ref, [environmentUid])
        .filter((other) => other.name !== name).length,
    };
  },

  publish: () => [],
};
