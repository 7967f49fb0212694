import type { RecordChange } from '../../modules/records/events.ts';
import type { StreamHeads } from '../../modules/records/heads.ts';
import type { RecordReader } from '../../modules/records/reader.ts';
import type { ProjectionStore } from '../../ports/projection-store.ts';
import { startProjector, type ProjectorDeps } from '../../../streams/projections/projector.ts';
import { records } from '../../../streams/projections/records.ts';
import { startSharedProjector } from '../../../streams/projections/shared-projector.ts';
import { createSharedPublication } from '../../../streams/projections/shared-publication.ts';
import type { Ground, ThreadData } from './ground.ts';

/** What the reader of this process needs to know of the projectors, here and elsewhere. */
interface Projected {
  readonly published: RecordReader['published'];
  readonly isCurrent: (partition: number) => boolean;
  readonly beforeReading: (partition: number) => Promise<void>;
  /** Rejects when a projector of this process cannot go on. */
  readonly stopped: Promise<void>;
}

interface Tables {
  readonly store: ProjectionStore;
  readonly tables: ProjectorDeps['tables'];
  readonly heads: StreamHeads;
  /** Makes the tables what they have to be. */
  readonly prepare: () => Promise<void>;
}

/** Starts what this process projects of the records (see `Projecting`). */
export function projectRecords(
  stack: AsyncDisposableStack,
  ground: Ground,
  data: ThreadData,
  tables: Tables,
): Promise<Projected> {
  return data.projecting === 'all'
    ? projectAll(stack, ground, data, tables)
    : projectShared(stack, ground, data, tables);
}

/** Into tables of its own: whatever other processes do, these hold what this one has projected. */
async function projectAll(
  stack: AsyncDisposableStack,
  { log, schemas, clock, logger, faultPoint }: Ground,
  { partitions }: ThreadData,
  { store, tables, heads, prepare }: Tables,
): Promise<Projected> {
  await prepare();
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
  const published: Projected['published'] = (...args) => projector.published(...args);
  const nothing = (): Promise<void> => Promise.resolve();
  return {
    published,
    isCurrent: () => true,
    beforeReading: nothing,
    stopped: projector.stopped,
  };
}

/** Into tables that all processes have in common: others may project what this one reads. */
async function projectShared(
  stack: AsyncDisposableStack,
  { log, schemas, clock, logger, faultPoint }: Ground,
  { partitions, projecting }: ThreadData,
  { store, tables, heads, prepare }: Tables,
): Promise<Projected> {
  const publication = stack.use(createSharedPublication({ store, name: tables.name, logger }));
  const { published } = publication;
  if (projecting === 'none') {
    const beforeReading = (): Promise<void> => Promise.resolve();
    const stopped = Promise.withResolvers<undefined>().promise;
    return { published, beforeReading, isCurrent: () => false, stopped };
  }
  const codec = await schemas.codec<RecordChange>(records.topic);
  const ports = { log, store, tables, codec, heads, clock, logger };
  const projector = stack.use(
    await startSharedProjector({
      ...ports,
      partitions,
      faultPoint,
      prepare,
      advanced: publication.advance,
    }),
  );
  return {
    published,
    beforeReading: (partition) => projector.readable(partition),
    isCurrent: (partition) => projector.holds(partition),
    stopped: projector.stopped,
  };
}
