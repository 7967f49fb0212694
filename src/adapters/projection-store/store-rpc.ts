import type {
  CallerQueries,
  CallerQuery,
  CallerViews,
  QueryClass,
  ProjectionStore,
  QueryableStore,
  SqlParams,
} from '#ports/projection-store.ts';
import { TransferredResult, type Methods, type Peer } from '../threads/rpc.ts';

/** The calls of other threads to the one that owns the tables. */
export type TableQuestions = Pick<ProjectionStore, 'command' | 'queryRows'> & CallerQueries;

/** Served by the thread that opened the store. */
export function projectionStoreMethods(store: QueryableStore): Methods {
  return {
    'store.command': (sql: string, options: { queryClass?: QueryClass; params?: SqlParams }) =>
      store.command(sql, options),
    'store.queryRows': (sql: string, params?: SqlParams, queryClass?: QueryClass) =>
      store.queryRows(sql, params, queryClass),
    'store.showViews': (views: CallerViews) => store.showViews(views),
    'store.shownScopes': () => store.shownScopes(),
    'store.dropViews': (scope: string) => store.dropViews(scope),
    'store.runCallerQuery': async (query: CallerQuery) => {
      // A copy: the buffer may be a part of a pool, which cannot be transferred.
      const rows = new Uint8Array(await store.runCallerQuery(query));
      return new TransferredResult(rows, [rows.buffer]);
    },
  };
}

/** The same calls from another thread. */
export function connectProjectionStore(peer: Peer): TableQuestions {
  return {
    command: (sql, options = {}) => peer.call('store.command', [sql, options]),
    queryRows: <T>(sql: string, params?: SqlParams, queryClass?: QueryClass) =>
      peer.call<T[]>('store.queryRows', [sql, params, queryClass]),
    showViews: (views) => peer.call('store.showViews', [views]),
    shownScopes: () => peer.call('store.shownScopes', []),
    dropViews: (scope) => peer.call('store.dropViews', [scope]),
    runCallerQuery: async (query) =>
      Buffer.from(await peer.call<Uint8Array<ArrayBuffer>>('store.runCallerQuery', [query])),
  };
}
