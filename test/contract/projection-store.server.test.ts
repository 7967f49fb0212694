import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { projectionStoreContract } from './projection-store.contract.ts';

projectionStoreContract('server', async () => {
  const front = await startClickHouseFront();
  const store = await openClickHouseStore({ url: front.url });
  return {
    store,
    [Symbol.asyncDispose]: async () => {
      await store[Symbol.asyncDispose]();
      await front[Symbol.asyncDispose]();
    },
  };
});
