import { migrationsTableName } from '#ports/projection-store.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { positionsTable } from '#streams/projector/define.ts';
import type { CustomProjection } from './custom-projection.ts';
import { tablePrefix, tableStem } from './tables.ts';

/**
 * Removes the tables of projections that no longer exist, with their positions, however long ago they were deleted. Tables are
 * found by their names, so that nothing is left of a deletion that a kill interrupted.
 * @throws GatewayError `projection_unavailable`
 */
export async function dropOrphans(
  store: ProjectionStore,
  existing: readonly CustomProjection[],
): Promise<readonly string[]> {
  await store.create(positionsTable);
  const stems = existing.map(tableStem);
  const orphans = (await customNames(store)).filter(
    (name) => !stems.some((stem) => name.startsWith(stem)),
  );
  for (const name of orphans) {
    await store.drop(name);
    for (const table of [positionsTable.name, migrationsTableName]) {
      await store.command(
        `DELETE FROM ${table} WHERE name = {name:String} OR startsWith(name, {inner:String})`,
        { params: { name, inner: `${name}/` } },
      );
    }
  }
  return orphans;
}

/** Names of tables, and those that only their positions still have. */
async function customNames(store: ProjectionStore): Promise<string[]> {
  const rows = await store.queryRows<{ name: string }>(
    `SELECT DISTINCT name FROM (
       SELECT name FROM system.tables WHERE database = currentDatabase()
       UNION ALL SELECT splitByChar('/', name)[1] AS name FROM ${positionsTable.name})
     WHERE startsWith(name, {prefix:String}) ORDER BY name`,
    { prefix: tablePrefix },
  );
  return rows.map(({ name }) => name);
}
