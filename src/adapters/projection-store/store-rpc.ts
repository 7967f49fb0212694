import type { QueryClass, ProjectionStore, SqlParams } from '#ports/projection-store.ts';
import type { Methods, Peer } from '../threads/rpc.ts';

/** The calls of other threads to the one that owns the tables. */
export type TableQuestions = Pick<ProjectionStore, 'command' | 'queryRows'>;

/** Served by the thread that opened the store. */
export function projectionStoreMethods(store: ProjectionStore): Methods {
  return {
    'store.command': (sql: string, options: { queryClass?: QueryClass; params?: SqlParams }) =>
      store.command(sql, options),
    'store.queryRows': (sql: string, params?: SqlParams, queryClass?: QueryClass) =>
      store.queryRows(sql, params, queryClass),
  };
}

/** The same calls from another thread. */
export function connectProjectionStore(peer: Peer): TableQuestions {
  return {
    command: (sql, options = {}) => peer.call('store.command', [sql, options]),
    queryRows: <T>(sql: string, params?: SqlParams, queryClass?: QueryClass) =>
      peer.call<T[]>('store.queryRows', [sql, params, queryClass]),
  };
}
