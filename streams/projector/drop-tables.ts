import type { ProjectionStore } from '../../src/ports/projection-store.ts';
import type { TableSet } from './define.ts';

/** Removes the tables of the set, if there are any. */
export async function dropTables(store: ProjectionStore, set: TableSet): Promise<void> {
  for (const name of [...set.views, ...set.tables]) {
    await store.drop(name);
  }
}
