import type { ControlView } from '#control-plane/control-plane.ts';
import type { EntityPath } from '#control-plane/entity.ts';
import type { ProjectionTables } from './define.ts';
import { untouched, type Projection } from './projection-state.ts';

/** The entity of a projection, as engines read it: they send it no commands. */
interface ReadProjection {
  readonly kind: 'projection';
  readonly state: Projection;
  readonly command: never;
  readonly event: never;
}

const pathOf = (name: string): EntityPath<ReadProjection> => ({ kind: 'projection', path: [name] });

/** Number of the active generation. */
export function activeGeneration(
  view: Pick<ControlView, 'find'>,
  { name }: ProjectionTables,
): number {
  return (view.find(pathOf(name)) ?? untouched(name)).active;
}

/** Name of the first table of the active generation. */
export function tableOf(view: Pick<ControlView, 'find'>, projection: ProjectionTables): string {
  return projection.tableSet(activeGeneration(view, projection)).tables[0];
}
