import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { readProjections } from '#modules/operations/custom-projections/queries.ts';
import type { CallerFormat, CallerQueries, RowQueries } from '#ports/projection-store.ts';
import { readTables, viewsOf } from './views.ts';

export interface SqlDeps {
  readonly control: Pick<ControlPlane, 'view'>;
  readonly tables: CallerQueries & RowQueries;
}

/** By store, the version of the views that each scope has there. */
const shown = new WeakMap<CallerQueries, Map<string, string>>();

/** Makes the views of the environment unless this process has made them over the same tables; resolves with their scope. */
export async function showViews(
  { control, tables }: SqlDeps,
  environmentUid: string,
): Promise<string> {
  const versions = shown.get(tables) ?? new Map<string, string>();
  shown.set(tables, versions);
  const custom = await readProjections({ view: control.view, tables }, environmentUid);
  const views = viewsOf(environmentUid, readTables(control.view, custom));
  if (versions.get(views.scope) !== views.version) {
    await tables.showViews(views);
    versions.set(views.scope, views.version);
  }
  return views.scope;
}

export interface AskedQuery {
  readonly sql: string;
  readonly format: CallerFormat;
  readonly rowsMax: number;
  readonly seconds: number;
}

/**
 * Runs the query over the views of the environment.
 * @throws as `CallerQueries.runCallerQuery`
 */
export async function runQuery(
  deps: SqlDeps,
  environmentUid: string,
  { sql, format, rowsMax, seconds }: AskedQuery,
): Promise<Buffer> {
  const scope = await showViews(deps, environmentUid);
  try {
    return await deps.tables.runCallerQuery({
      sql,
      scope,
      format,
      limits: {
        seconds,
        rows: rowsMax,
        memoryBytes: limits.sqlMemoryBytes,
        resultBytes: limits.sqlResultBytesMax,
      },
    });
  } catch (error) {
    // The views may be gone with the tables: the next query makes them again.
    const isAway = error instanceof GatewayError && error.code === 'projection_unavailable';
    if (isAway) shown.get(deps.tables)?.delete(scope);
    throw error;
  }
}
