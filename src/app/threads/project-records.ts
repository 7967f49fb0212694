import type { Logger } from 'pino';
import type { EventLog } from '../../ports/event-log.ts';
import type { Feed, FeedDeps, FeedOptions } from '../../../streams/projections/fed-generation.ts';
import { startProjector, type ProjectorDeps } from '../../../streams/projections/projector.ts';
import { createPublication } from '../../../streams/projections/publication.ts';
import { startSharedProjector } from '../../../streams/projections/shared-projector.ts';
import { createSharedPublication } from '../../../streams/projections/shared-publication.ts';
import type { Ground, ThreadData } from './ground.ts';

type Projecting = Pick<FeedDeps, 'openReach' | 'openFeed'>;

type Ports = Pick<ProjectorDeps, 'store' | 'codec' | 'clock' | 'partitions' | 'faultPoint'> & {
  readonly log: EventLog;
  readonly logger: Logger;
};

/** Makes the tables what they have to be. */
type Prepare = (tables: ProjectorDeps['tables']) => Promise<void>;

/** How this process projects the records, whatever the generation (see `Projecting` of ground.ts). */
export function projectRecords(
  given: Omit<Ports, 'faultPoint'>,
  { faultPoint }: Pick<Ground, 'faultPoint'>,
  { projecting }: Pick<ThreadData, 'projecting'>,
  prepare: Prepare,
): Projecting {
  const ports: Ports = { ...given, faultPoint };
  const { store, logger } = ports;
  if (projecting === 'all') return projectAll(ports, prepare);

  const openFeed = async (options: FeedOptions): Promise<Feed> => {
    const { tables } = options;
    if (projecting === 'none') return nothing();
    return startSharedProjector({
      ...ports,
      ...steered(options),
      prepare: () => prepare(tables),
    });
  };
  const openReach: FeedDeps['openReach'] = ({ name }) =>
    createSharedPublication({ store, name, logger });
  return { openReach, openFeed };
}

/** Into tables of its own: whatever other processes do, these hold what this one has projected. */
function projectAll(ports: Ports, prepare: Prepare): Projecting {
  return {
    openReach() {
      const publication = createPublication();
      return {
        ...publication,
        refresh: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    },
    async openFeed(options) {
      await prepare(options.tables);
      const projector = await startProjector({ ...ports, ...steered(options) });
      return {
        holds: () => true,
        readable: () => Promise.resolve(),
        stopped: projector.stopped,
        [Symbol.asyncDispose]: () => projector[Symbol.asyncDispose](),
      };
    },
  };
}

function steered({ tables, heads, advanced, isBuilding, pacePercent }: FeedOptions) {
  const lane = () => (isBuilding() ? ('build' as const) : ('insert' as const));
  return { tables, heads, advanced, lane, pacePercent };
}

/** Others project, this process reads. */
const nothing = (): Feed => ({
  holds: () => false,
  readable: () => Promise.resolve(),
  stopped: Promise.withResolvers<undefined>().promise,
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
