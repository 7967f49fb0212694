import { openClickHouseStore } from '../../adapters/projection-store/clickhouse.ts';
import {
  recordSourceMethods,
  announceDropped,
} from '../../adapters/projection-store/reader-rpc.ts';
import { migrate } from '../../adapters/projection-store/migrate.ts';
import { projectionStoreMethods } from '../../adapters/projection-store/store-rpc.ts';
import type { RecordChange } from '../../modules/records/events.ts';
import { createStreamHeads } from '../../modules/records/heads.ts';
import { createRecordSource } from '../../modules/records/source.ts';
import { recordTables } from '../../modules/records/tables.ts';
import { startProjector } from '../../../streams/projections/projector.ts';
import { records } from '../../../streams/projections/records.ts';
import { serveThread } from './serve-thread.ts';

/** The projector and the tables: ClickHouse in process belongs to one thread. */
serveThread(async (ground, stack, { clickhouse, partitions }, main) => {
  const { log, schemas, vault, clock, logger, faultPoint } = ground;
  const store = stack.use(await openClickHouseStore(clickhouse));
  const tables = records.tableSet(1);
  await migrate(store, tables.migrations);
  const heads = createStreamHeads();
  const codec = await schemas.codec<RecordChange>(records.topic);
  const projector = stack.use(
    await startProjector({
      log,
      store,
      tables,
      codec,
      heads,
      clock,
      logger,
      partitions,
      faultPoint,
    }),
  );
  projector.stopped.catch((err: unknown) => {
    logger.fatal({ err }, 'the records projector cannot go on');
    main.emit('fatal', 'the records projector cannot go on');
  });
  const source = createRecordSource({
    store,
    tables: recordTables(tables.generation),
    heads,
    vault,
    clock,
    partitions,
    published: (partition, offset, signal) => projector.published(partition, offset, signal),
  });
  announceDropped(source, main);
  return { ...recordSourceMethods(source), ...projectionStoreMethods(store) };
});
