import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { TableFeed } from '#streams/projector/generation-feed.ts';
import { startSharedProjector } from '#streams/projector/shared-projector.ts';
import type { ThreadData } from './thread-context.ts';

interface Projector extends AsyncDisposable {
  readonly stopped: Promise<void>;
}

type SharedDeps = Parameters<typeof startSharedProjector>[0];

interface FeedParts extends Pick<SharedDeps, 'logger' | 'topic' | 'group' | 'prepare'> {
  readonly log: EventLog;
  readonly store: ProjectionStore;
  readonly projecting: Exclude<ThreadData['projecting'], 'none'>;
  /** Starts to project into the store. @param held absent: all partitions */
  readonly begin: (into: {
    readonly store: ProjectionStore;
    readonly held?: readonly number[];
  }) => Promise<Projector>;
}

/** Feeds tables of which nothing is cached: by this process alone, or by the group that shares the partitions. */
export async function startFeed({ projecting, begin, ...deps }: FeedParts): Promise<TableFeed> {
  if (projecting === 'shared') {
    return startSharedProjector({
      ...deps,
      begin: (held, store) => begin({ store, held }),
      forget: () => undefined,
    });
  }
  await deps.prepare();
  const projector = await begin({ store: deps.store });
  return {
    holds: () => true,
    readable: () => Promise.resolve(),
    stopped: projector.stopped,
    [Symbol.asyncDispose]: () => projector[Symbol.asyncDispose](),
  };
}
