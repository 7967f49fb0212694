import type { Migration, ProjectionStore } from '../../ports/projection-store.ts';

/**
 * Brings the tables to the present form: runs the steps that this store has not noted yet, in order.
 * @throws GatewayError `projection_unavailable`: run it again.
 */
export async function migrate(
  store: ProjectionStore,
  migrations: readonly Migration[],
): Promise<void> {
  await store.command(`
    CREATE TABLE IF NOT EXISTS projection_migrations (
      name String, number UInt32, applied_at DateTime DEFAULT now()
    ) ENGINE = MergeTree ORDER BY (name, number)`);
  const done = await store.queryRows<{ name: string; number: number }>(
    'SELECT name, number FROM projection_migrations',
  );
  const noted = new Set(done.map((row) => `${row.name}/${row.number}`));
  const ordered = [...migrations].sort((a, b) => a.number - b.number);
  for (const { projection, number, statements } of ordered) {
    if (noted.has(`${projection}/${number}`)) continue;
    for (const statement of statements) await store.command(statement);
    await store.command(
      'INSERT INTO projection_migrations (name, number) VALUES ({projection:String}, {number:UInt32})',
      { params: { projection, number } },
    );
  }
}
