import { workerData } from 'node:worker_threads';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { settleStatements } from '#adapters/projection-store/statements.ts';
import { connect } from '#adapters/threads/rpc.ts';
import type { PeerData } from '#adapters/threads/start-peer.ts';

/** Start data of a thread that runs a statement of the engine until it is terminated. */
export interface StatementThreadData extends PeerData {
  readonly folder: string;
  readonly sql: string;
}

const { port, folder, sql } = workerData as StatementThreadData;
connect(port, {
  /** Resolves when the statement runs. */
  begin: async () => {
    const store = await openClickHouseStore({ url: `embedded:${folder}` });
    await store.queryRows('SELECT 1', {}, 'page');
    void store.queryRows(sql, {}, 'page').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
  },
  settle: settleStatements,
});
