import type { ControlView } from '#control-plane/control-plane.ts';
import type { ProjectionTables } from './define.ts';
import { untouched, type Projection } from './projection-state.ts';

/** Number of the active generation. */
export function activeGeneration(
  view: Pick<ControlView, 'find'>,
  { name }: ProjectionTables,
): number {
  return (view.find<Projection>('projection', [name]) ?? untouched(name)).active;
}

/** Name of the first table of the active generation. */
export function tableOf(view: Pick<ControlView, 'find'>, projection: ProjectionTables): string {
  return projection.tableSet(activeGeneration(view, projection)).tables[0];
}
