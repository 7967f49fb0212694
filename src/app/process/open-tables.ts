import type { Logger } from 'pino';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { UnusableFolder } from '#adapters/projection-store/open-folder.ts';
import { UnusableServer } from '#adapters/projection-store/server-address.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import type { DamagedPart, ProjectionStore } from '#ports/projection-store.ts';

/** @throws CannotStart if the setting must be changed, or the folder cannot be used */
export async function openTables(
  clickhouse: { readonly url: string; readonly cluster: string | null },
  logger: Pick<Logger, 'warn'>,
  onPartDamaged?: (damaged: DamagedPart) => void,
): Promise<ProjectionStore> {
  const onDamaged = (corruption: object) =>
    logger.warn(corruption, 'the tables are corrupt: they are rebuilt from the log');
  try {
    return await openClickHouseStore({
      ...clickhouse,
      onDamaged,
      ...(onPartDamaged === undefined ? {} : { onPartDamaged }),
    });
  } catch (error) {
    if (error instanceof UnusableFolder) {
      throw new CannotStart(`SVC_DATA_DIR: ${error.message}`, { cause: error });
    }
    if (!(error instanceof UnusableServer)) throw error;
    throw new CannotStart(`SVC_CLICKHOUSE_URL cannot be used: ${error.message}`, { cause: error });
  }
}
