import type { Logger } from 'pino';
import { migrate } from '#adapters/projection-store/migrate.ts';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { openCommandSender } from '#control-plane/command-sender.ts';
import type { CustomProjection } from '#modules/operations/custom-projections/custom-projection.ts';
import { dropOrphans } from '#modules/operations/custom-projections/drop.ts';
import {
  followCustomProjections,
  type FollowedCustomProjections,
} from '#modules/operations/custom-projections/follow.ts';
import {
  startCustomProjector,
  type CustomProjectorDeps,
} from '#modules/operations/custom-projections/projector.ts';
import {
  customTableSet,
  type CustomTableSet,
} from '#modules/operations/custom-projections/tables.ts';
import { countNewFailures, verifyCustom } from '#modules/operations/custom-projections/verify.ts';
import { projectionRef } from '#modules/operations/projections/entity.ts';
import { recordsTopic, type RecordChange } from '#modules/records/model/events.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { ChangeMapper } from '#ports/sandbox.ts';
import type { Codec } from '#ports/schemas.ts';
import type { FeedOptions, TableFeed } from '#streams/projector/generation-feed.ts';
import { startGenerations, type Generations, type Report } from '#streams/projector/generations.ts';
import { projectorGroup } from '#streams/projector/shared-projector.ts';
import { createSharedPublication } from '#streams/projector/shared-publication.ts';
import { counted, reachOfOwn } from './project-records.ts';
import { readByName } from './read-by-name.ts';
import { startFeed } from './start-feed.ts';
import type { ThreadContext, ThreadData } from './thread-context.ts';

interface Ports extends Pick<ThreadContext, 'log' | 'schemas' | 'clock' | 'faultPoint'> {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: ProjectionStore;
  readonly codec: Codec<RecordChange>;
  /** SVC_PARTITIONS. */
  readonly partitions: number;
  readonly projecting: Exclude<ThreadData['projecting'], 'none'>;
}

const retryMs = 5_000;
/** One process of the sandbox: mappings of all projections share it, and leave the processor to actions. */
const mapperOptions = { isOnDemand: true, childrenMax: 2, spares: 1, runsPerChild: 4 } as const;

/**
 * Feeds the custom projections that exist, and removes what is left of others. Their start delays nothing: a gateway
 * serves before they have caught up.
 */
export async function projectCustom(ports: Ports): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  try {
    const followed = stack.use(await followCustomProjections(ports));
    const mapper = stack.use(await openSandbox(mapperOptions));
    const send = await openCommandSender(ports);
    const report = (name: string, fields: Report): Promise<void> =>
      send(projectionRef(name), { ...fields, name }, { actor: 'system' });
    stack.use(new CustomProjections({ ...ports, followed, mapper, report }));
    return stack.move();
  } finally {
    await stack.disposeAsync();
  }
}

interface Deps extends Ports {
  readonly followed: FollowedCustomProjections;
  readonly mapper: ChangeMapper;
  readonly report: (name: string, fields: Report) => Promise<void>;
}

class CustomProjections implements AsyncDisposable {
  readonly #deps: Deps;
  /** By uid. */
  readonly #running = new Map<string, AsyncDisposable>();
  #work: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.followed.onChange(() => this.#reconcile());
    this.#reconcile();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    await this.#work;
    for (const one of this.#running.values()) await one[Symbol.asyncDispose]();
  }

  #reconcile(): void {
    this.#work = this.#work
      .then(() => (this.#isClosed ? undefined : this.#bring()))
      .catch((err: unknown) => {
        this.#deps.logger.warn({ err }, 'projections of projects could not be started or removed');
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => this.#reconcile(), retryMs).unref();
      });
  }

  async #bring(): Promise<void> {
    const { followed, store, logger } = this.#deps;
    for (const [uid, running] of this.#running) {
      if (followed.find(uid) !== null) continue;
      this.#running.delete(uid);
      await running[Symbol.asyncDispose]();
    }
    const dropped = await dropOrphans(store, followed.list());
    if (dropped.length > 0)
      logger.info({ tables: dropped }, 'dropped tables of deleted projections');
    for (const custom of followed.list()) {
      if (this.#running.has(custom.uid)) continue;
      const generations = await startCustomGenerations(this.#deps, custom);
      this.#running.set(custom.uid, generations);
      generations.stopped.catch((err: unknown) => {
        logger.error({ err, projection: custom.projection }, 'a projection has stopped');
      });
    }
  }
}

async function startCustomGenerations(
  deps: Deps,
  { uid, projection: name }: CustomProjection,
): Promise<Generations<typeof readByName>> {
  const { log, store, clock, logger, partitions, followed } = deps;
  const setOf = (number: number): CustomTableSet => {
    const custom = followed.find(uid);
    if (custom === null) throw new Error(`the projection ${name} is deleted`);
    return customTableSet(custom, followed.stateOf(name).generations, number);
  };
  const projection = followed.follow(name);
  const tableSets = new Map<number, CustomTableSet>();
  /** Of a generation that is dropped, the names are still needed. */
  const tableSet = (number: number): CustomTableSet => {
    const set = tableSets.get(number) ?? setOf(number);
    tableSets.set(number, set);
    return set;
  };
  return startGenerations({
    log,
    store,
    clock,
    logger,
    partitions,
    topic: recordsTopic,
    tableSet,
    projection,
    openReach: (tables) =>
      deps.projecting === 'all'
        ? reachOfOwn()
        : createSharedPublication({ store, name: tables.name, logger }),
    openFeed: (options) => openFeed(deps, uid, options),
    openSource: () => null,
    openActive: () => readByName,
    reads: () => undefined,
    dropCopies: () => Promise.resolve(),
    isTableOf: (table, generation) => tableSet(generation).tables.includes(table),
    stalled: () => undefined,
    report: (fields) => deps.report(name, fields),
    async newFailures({ expected, found }) {
      const sets = { expected: tableSet(expected), found: tableSet(found) };
      const failures = await countNewFailures({ store, partitions }, sets);
      deps.faultPoint('custom-projector:before-switch');
      return failures;
    },
    verify: ({ expected, found }, signal) =>
      verifyCustom(
        { log, store, partitions },
        { expected: tableSet(expected), found: tableSet(found) },
        signal,
      ),
  });
}

async function openFeed(
  deps: Deps,
  uid: string,
  options: FeedOptions<CustomTableSet>,
): Promise<TableFeed> {
  const { store, projecting, followed, metrics } = deps;
  const custom = followed.find(uid);
  if (custom === null) throw new Error('the projection is deleted');
  const { tables } = options;
  const prepare = () => migrate(store, tables.migrations);
  const begin = (into: Pick<CustomProjectorDeps, 'store' | 'held'>) =>
    startCustomProjector({
      ...deps,
      ...options,
      ...into,
      custom,
      advanced: counted(options.advanced, metrics, custom.projection),
    });
  const { log, logger } = deps;
  const group = projectorGroup({ name: custom.projection }, tables);
  return startFeed({ log, logger, store, projecting, topic: recordsTopic, group, prepare, begin });
}
