import { openClickHouseStore } from '../adapters/projection-store/clickhouse.ts';
import { UnusableServer } from '../adapters/projection-store/server-address.ts';
import { CannotStart } from '../kernel/cannot-start.ts';
import type { ProjectionStore } from '../ports/projection-store.ts';

/** @throws CannotStart where the setting must be changed; GatewayError `projection_unavailable`: see the adapter */
export async function openTables(clickhouse: {
  readonly url: string;
  readonly cluster: string | null;
}): Promise<ProjectionStore> {
  try {
    return await openClickHouseStore(clickhouse);
  } catch (error) {
    if (!(error instanceof UnusableServer)) throw error;
    throw new CannotStart(`SVC_CLICKHOUSE_URL cannot be used: ${error.message}`, { cause: error });
  }
}
