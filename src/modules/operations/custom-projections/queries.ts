import type { ControlView } from '#control-plane/control-plane.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { untouched } from '#streams/projector/projection-state.ts';
import { projectionRef } from '../projections/entity.ts';
import type { CustomProjection, ProjectionVersion } from './custom-projection.ts';
import { customProjectionEntity } from './entity.ts';
import { customTables } from './tables.ts';

type View = Pick<ControlView, 'find' | 'list'>;

/** Of an environment, or of all. */
export const listCustomProjections = (view: View, environmentUid?: string): CustomProjection[] =>
  view
    .list(customProjectionEntity, environmentUid === undefined ? [] : [environmentUid])
    .map(({ state }) => state);

export function tablesOfCustom(view: View, custom: CustomProjection): ProjectionTables {
  const { generations } =
    view.find(projectionRef(custom.projection)) ?? untouched(custom.projection);
  return customTables(custom, generations);
}

/** The tables of all of them. */
export const allCustomTables = (view: View): ProjectionTables[] =>
  listCustomProjections(view).map((custom) => tablesOfCustom(view, custom));

/** The table that is read. */
export interface ReadProjection {
  readonly name: string;
  readonly table: string;
  readonly version: ProjectionVersion;
}

/** The active tables of the environment that exist: a projector makes them soon after the deployment. */
export async function readProjections(
  { view, tables }: { readonly view: View; readonly tables: RowQueries },
  environmentUid: string,
): Promise<readonly ReadProjection[]> {
  const read = listCustomProjections(view, environmentUid).map((custom) => {
    const { active, generations } =
      view.find(projectionRef(custom.projection)) ?? untouched(custom.projection);
    const set = customTables(custom, generations).tableSet(active);
    return { name: custom.name, table: set.name, version: set.version };
  });
  if (read.length === 0) return [];
  const rows = await tables.queryRows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN {names:Array(String)}',
    { names: read.map(({ table }) => table) },
    'page',
  );
  const existing = new Set(rows.map(({ name }) => name));
  return read.filter(({ table }) => existing.has(table));
}
