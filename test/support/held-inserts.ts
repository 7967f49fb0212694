import type { ProjectionStore } from '../../src/ports/projection-store.ts';

/** The store, but inserts into the table wait until they are released. `inserting` resolves with the first of them. */
export function holdInserts(inner: ProjectionStore, table: string) {
  const inserting = Promise.withResolvers<undefined>();
  const released = Promise.withResolvers<undefined>();
  const store: ProjectionStore = {
    create: (definition) => inner.create(definition),
    drop: (name) => inner.drop(name),
    command: (sql, options) => inner.command(sql, options),
    queryBinary: (sql, params, lane) => inner.queryBinary(sql, params, lane),
    queryRows: (sql, params, lane) => inner.queryRows(sql, params, lane),
    insert: async (insert) => {
      if (insert.table === table) {
        inserting.resolve(undefined);
        await released.promise;
      }
      await inner.insert(insert);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { store, inserting: inserting.promise, release: () => released.resolve(undefined) };
}
