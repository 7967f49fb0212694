import type { ControlView } from '../../control-plane/control-plane.ts';
import type { ProjectionTables } from '../../../streams/projections/define.ts';
import { untouched, type Projection } from './state.ts';

/** Name of the first table of the generation that is read now. */
export function tableOf(view: Pick<ControlView, 'find'>, projection: ProjectionTables): string {
  const { name, tableSet } = projection;
  const { active } = view.find<Projection>('projection', [name]) ?? untouched(name);
  return tableSet(active).tables[0];
}
