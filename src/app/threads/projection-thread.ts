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
import { openTables } from '../open-tables.ts';
import { projectRecords } from './project-records.ts';
import { serveThread } from './serve-thread.ts';
import { watchTables } from './watch-tables.ts';

/** The tables, their reader, and what this process projects into them: ClickHouse in process belongs to one thread. */
serveThread(async (ground, stack, data, main) => {
  const { vault, clock, logger } = ground;
  const { clickhouse, partitions } = data;
  const store = stack.use(await openTables(clickhouse));
  const tables = records.tableSet(1);
  const heads = createStreamHeads();
  const tell = (reason: string | null): void => {
    main.emit('unready', reason);
    // What was read ahead must not outlive the server that it came from.
    if (reason !== null) heads.drop('all');
  };
  const isServer = !clickhouse.url.startsWith('embedded:');
  const watch = isServer ? stack.use(watchTables({ store, logger, tell })) : null;
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
  const { published, isCurrent } = projected;
  const beforeReading = async (partition: number): Promise<void> => {
    watch?.refuseAway();
    await projected.beforeReading(partition);
  };
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
