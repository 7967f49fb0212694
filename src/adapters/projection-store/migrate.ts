import {
  migrationsTableName,
  type Migration,
  type ProjectionStore,
  type TableDefinition,
} from '#ports/projection-store.ts';

/** Completed steps. */
export const migrationsTable: TableDefinition = {
  name: migrationsTableName,
  columns: ['name String', 'number UInt32', 'applied_at DateTime DEFAULT now()'],
  engine: 'MergeTree',
  orderBy: ['name', 'number'],
  tokensKept: 0,
};

/**
 * Migrates the tables to the current form: runs the steps that this store has not recorded yet, in order.
 * @throws GatewayError `projection_unavailable`: run it again
 */
export async function migrate(
  store: ProjectionStore,
  migrations: readonly Migration[],
): Promise<void> {
  const noted = await notedSteps(store);
  const ordered = [...migrations].sort((a, b) => a.number - b.number);
  for (const { projection, number, steps } of ordered) {
    if (noted.has(`${projection}/${number}`)) continue;
    for (const step of steps) {
      await (typeof step === 'string' ? store.command(step) : store.create(step));
    }
    await store.command(
      `INSERT INTO ${migrationsTable.name} (name, number) VALUES ({projection:String}, {number:UInt32})`,
      { params: { projection, number } },
    );
  }
}

/** If all steps are recorded, nothing is created: that would need every node of a cluster. */
async function notedSteps(store: ProjectionStore): Promise<Set<string>> {
  const [found] = await store.queryRows(
    'SELECT name FROM system.tables WHERE database = currentDatabase() AND name = {name:String}',
    { name: migrationsTable.name },
  );
  if (found === undefined) await store.create(migrationsTable);
  const done = await store.queryRows<{ name: string; number: number }>(
    `SELECT name, number FROM ${migrationsTable.name}`,
  );
  return new Set(done.map((row) => `${row.name}/${row.number}`));
}
