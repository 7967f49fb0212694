import { openClickHouseStore } from '../../adapters/projection-store/clickhouse.ts';
import {
  recordSourceMethods,
  announceDropped,
} from '../../adapters/projection-store/reader-rpc.ts';
import { migrate } from '../../adapters/projection-store/migrate.ts';
import { projectionStoreMethods } from '../../adapters/projection-store/store-rpc.ts';
import { createStreamHeads } from '../../modules/records/heads.ts';
import { createRecordSource } from '../../modules/records/source.ts';
import { recordTables } from '../../modules/records/tables.ts';
import { records } from '../../../streams/projections/records.ts';
import { projectRecords } from './project-records.ts';
import { serveThread } from './serve-thread.ts';

/** The tables, their reader, and what this process projects into them: ClickHouse in process belongs to one thread. */
serveThread(async (ground, stack, data, main) => {
  const { vault, clock, logger } = ground;
  const { clickhouse, partitions } = data;
  const store = stack.use(await openClickHouseStore(clickhouse));
  const tables = records.tableSet(1);
  const heads = createStreamHeads();
  const projected = await projectRecords(stack, ground, data, {
    store,
    tables,
    heads,
    prepare: () => migrate(store, tables.migrations),
  });
  projected.stopped.catch((err: unknown) => {
    logger.fatal({ err }, 'the records projector cannot go on');
    main.emit('fatal', 'the records projector cannot go on');
  });
  const { published, isCurrent, beforeReading } = projected;
  const source = createRecordSource({
    store,
    tables: recordTables(tables.generation),
    heads,
    vault,
    clock,
    partitions,
    published,
    isCurrent,
    beforeReading,
  });
  announceDropped(source, main);
  return { ...recordSourceMethods(source), ...projectionStoreMethods(store) };
});
