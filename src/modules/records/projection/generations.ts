import type { TableFeed, FeedDeps, FeedOptions } from '#streams/projector/generation-feed.ts';
import {
  startGenerations,
  type GenerationsDeps,
  type Generations,
} from '#streams/projector/generations.ts';
import { createHighWatermarks, type HighWatermarks } from '../read/high-watermarks.ts';
import type { RecordSource, TableSource } from '../read/reader.ts';
import type { SourceDeps } from '../read/source.ts';
import { createActiveSource } from './active-source.ts';
import { records, type RecordTableSet } from './definition.ts';
import { dropCopies } from './verify.ts';

export interface RecordFeedOptions extends FeedOptions<RecordTableSet> {
  readonly watermarks: HighWatermarks;
}

type GeneralDeps = GenerationsDeps<
  TableSource,
  ReturnType<typeof createActiveSource>,
  RecordTableSet
>;
type DerivedDep =
  | 'isTableOf'
  | 'topic'
  | 'tableSet'
  | 'openActive'
  | 'dropCopies'
  | 'openFeed'
  | 'openSource';

export interface RecordGenerationsDeps extends Omit<GeneralDeps, DerivedDep> {
  readonly openReach: FeedDeps<TableSource, RecordTableSet>['openReach'];
  readonly openFeed: (options: RecordFeedOptions) => Promise<TableFeed>;
  readonly openSource: (
    ref: Required<
      Pick<
        SourceDeps,
        'tables' | 'watermarks' | 'published' | 'reached' | 'isCurrent' | 'beforeReading'
      >
    >,
  ) => TableSource;
}

export interface RecordGenerations extends Generations<RecordSource> {
  /** Data read before must be read again. */
  forget(): void;
}

/** The generations of the records projection: each has heads of its streams, which its readers use. */
export async function startRecordGenerations(
  deps: RecordGenerationsDeps,
): Promise<RecordGenerations> {
  const highWatermarks = new Map<number, HighWatermarks>();
  const headsOf = ({ generation }: RecordTableSet): HighWatermarks => {
    const existing = highWatermarks.get(generation) ?? createHighWatermarks();
    highWatermarks.set(generation, existing);
    return existing;
  };
  const generations = await startGenerations({
    ...deps,
    topic: records.topic,
    tableSet: records.tableSet,
    openActive: (first: TableSource) => createActiveSource(first, deps),
    isTableOf: (table, generation) =>
      (['read', 'compare'] as const).some((use) =>
        records.tableSet(generation, use).tables.includes(table),
      ),
    dropCopies: (generation) => dropCopies(deps.store, generation),
    openFeed: (options) => deps.openFeed({ ...options, watermarks: headsOf(options.tables) }),
    openSource: ({ tables, ...ref }) =>
      deps.openSource({ ...ref, tables: tables.names, watermarks: headsOf(tables) }),
  });
  return {
    source: generations.source,
    stopped: generations.stopped,
    forget() {
      for (const current of highWatermarks.values()) current.drop('all');
    },
    [Symbol.asyncDispose]: () => generations[Symbol.asyncDispose](),
  };
}
