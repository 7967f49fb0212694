import type { ProjectionStore } from '#ports/projection-store.ts';

/**
 * The store, but inserts into the table wait until they are released: before they are made, or once their rows can be
 * read. `inserting` resolves when the first of them waits.
 */
export function holdInserts(
  inner: ProjectionStore,
  table: string,
  when: 'before' | 'once-readable' = 'before',
) {
  const inserting = Promise.withResolvers<undefined>();
  const released = Promise.withResolvers<undefined>();
  let isHolding = true;
  const wait = async (): Promise<void> => {
    if (!isHolding) return;
    inserting.resolve(undefined);
    await released.promise;
  };
  const store: ProjectionStore = {
    create: (definition) => inner.create(definition),
    drop: (name) => inner.drop(name),
    command: (sql, options) => inner.command(sql, options),
    queryBinary: (sql, params, lane) => inner.queryBinary(sql, params, lane),
    queryRows: (sql, params, lane) => inner.queryRows(sql, params, lane),
    insert: async (insert) => {
      if (insert.table !== table) return inner.insert(insert);
      if (when === 'before') await wait();
      await inner.insert(insert);
      if (when === 'once-readable') await wait();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const release = (): void => released.resolve(undefined);
  return {
    store,
    inserting: inserting.promise,
    release,
    /** Inserts go through until `hold`. */
    pass: () => void (isHolding = false),
    hold: () => void (isHolding = true),
    [Symbol.dispose]: release,
  };
}
