import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { Random } from '../judges/random.ts';

/**
 * The store, with delayed statements and confirmations: rows can be readable before their insert is confirmed, as with
 * a server over a network.
 */
export function scheduledStore(inner: ProjectionStore, random: Random): ProjectionStore {
  const late = async <T>(work: () => Promise<T>, maxMs: number): Promise<T> => {
    if (random.chance(40)) await sleep(random.int(maxMs));
    const result = await work();
    if (random.chance(40)) await sleep(random.int(maxMs));
    return result;
  };
  return {
    create: (definition) => inner.create(definition),
    drop: (name) => inner.drop(name),
    command: (sql, options) => inner.command(sql, options),
    queryBinary: (sql, params, lane) => late(() => inner.queryBinary(sql, params, lane), 5),
    queryRows: (sql, params, lane) => late(() => inner.queryRows(sql, params, lane), 5),
    insert: (insert) => late(() => inner.insert(insert), 30),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
