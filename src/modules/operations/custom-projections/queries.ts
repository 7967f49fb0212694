import type { ControlView } from '#control-plane/control-plane.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import {
  untouched,
  type Generation,
  type Projection,
} from '#streams/projector/projection-state.ts';
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

/** The generation that does not replace the active one because of its failures. */
export const heldBackOf = ({ generations }: Projection): Generation | undefined =>
  generations.find(({ state, newFailures }) => state === 'ready' && newFailures !== undefined);

/** The table that is read. */
export interface ReadProjection {
  readonly name: string;
  readonly table: string;
  readonly version: ProjectionVersion;
}

interface QueryDeps {
  readonly view: View;
  readonly tables: RowQueries;
}

/** The active tables of the environment that exist. */
export const readProjections = (
  deps: QueryDeps,
  environmentUid: string,
): Promise<readonly ReadProjection[]> =>
  existingProjections(deps, environmentUid, ({ active }) => active);

/** Tables of the chosen generations that exist: a projector makes them soon after the deployment. */
export async function existingProjections(
  { view, tables }: QueryDeps,
  environmentUid: string,
  generationOf: (projection: Projection) => number,
): Promise<readonly ReadProjection[]> {
  const read = listCustomProjections(view, environmentUid).map((custom) => {
    const projection = view.find(projectionRef(custom.projection)) ?? untouched(custom.projection);
    const set = customTables(custom, projection.generations).tableSet(generationOf(projection));
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
