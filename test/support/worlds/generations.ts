import { migrate } from '#adapters/projection-store/migrate.ts';
import type { Clock } from '#kernel/time.ts';
import { projection, type ProjectionCommand } from '#modules/operations/projections/decider.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import { records } from '#modules/records/projection/definition.ts';
import {
  startRecordGenerations,
  type RecordGenerations,
} from '#modules/records/projection/generations.ts';
import { startProjector } from '#modules/records/projection/projector.ts';
import { verifyGeneration } from '#modules/records/projection/verify.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import { createRecordSource } from '#modules/records/read/source.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import type { FollowedProjection } from '#streams/projector/consume-projections.ts';
import { messageOf, type PublishedProjection } from '#streams/projector/projection-message.ts';
import { untouched, type Projection } from '#streams/projector/projection-state.ts';
import { createPublication } from '#streams/projector/publication.ts';
import { MemoryLog } from '../fakes/memory-log.ts';
import type { RecordModel } from '../judges/record-model.ts';
import { silent } from './control.ts';
import { changeCodec, noVault, partitions } from './projection.ts';

/** A command without what the owner adds. */
export type Asked = ProjectionCommand extends infer C
  ? C extends ProjectionCommand
    ? Omit<C, 'name' | 'at'>
    : never
  : never;

const { name } = records;

/** Decides as the owner does, in memory; outlives the node under test. */
export class TestOwner implements FollowedProjection {
  state: Projection = untouched(name);
  current: PublishedProjection = messageOf(this.state, '', 1);
  readonly #listeners = new Set<(told: PublishedProjection) => void>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  ask(command: Asked): void {
    const at = this.#clock.now();
    for (const event of projection.decide({ ...command, name, at }, this.state)) {
      this.state = projection.evolve(this.state, event) ?? this.state;
    }
    this.current = messageOf(this.state, '', this.state.last);
    for (const listener of this.#listeners) listener(this.current);
  }

  onChange(listener: (told: PublishedProjection) => void): void {
    this.#listeners.add(listener);
  }

  generation(number: number) {
    return this.state.generations.find((one) => one.number === number);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    return Promise.resolve();
  }
}

/** What the projection thread runs, over a log in memory. */
export class TestGenerations implements AsyncDisposable {
  readonly log: MemoryLog;
  readonly store: ProjectionStore;
  readonly owner: TestOwner;
  readonly generations: RecordGenerations;
  readonly reader: RecordReader;
  /** How often this node has begun to compare. */
  comparisons = 0;
  #failure: Error | null = null;

  private constructor(
    log: MemoryLog,
    store: ProjectionStore,
    owner: TestOwner,
    generations: RecordGenerations,
    clock: Clock,
  ) {
    this.log = log;
    this.store = store;
    this.owner = owner;
    this.generations = generations;
    this.reader = createRecordReader(generations.source, clock);
  }

  static async open(
    store: ProjectionStore,
    log: MemoryLog,
    owner: TestOwner,
    clock: Clock,
    holds: (generation: number) => boolean = () => true,
  ): Promise<TestGenerations> {
    let begin = (): void => undefined;
    const ports = { log, store, codec: changeCodec, clock, logger: silent, partitions };
    const generations = await startRecordGenerations({
      ...ports,
      projection: owner,
      reads: () => undefined,
      isReadElsewhere: true,
      stalled: () => undefined,
      openReach: () => {
        const publication = createPublication();
        const done = (): Promise<void> => Promise.resolve();
        return { ...publication, refresh: done, [Symbol.asyncDispose]: done };
      },
      openFeed: async ({ isBuilding, ...options }) => {
        await migrate(store, options.tables.migrations);
        const lane = () => (isBuilding() ? ('build' as const) : ('insert' as const));
        const projector = await startProjector({ ...ports, ...options, queryClass: lane });
        return {
          holds: () => holds(options.tables.generation),
          isCurrent: (partition) => projector.hasCaughtUp(partition),
          readable: () => Promise.resolve(),
          stopped: projector.stopped,
          [Symbol.asyncDispose]: () => projector[Symbol.asyncDispose](),
        };
      },
      openSource: (of) => createRecordSource({ ...of, store, vault: noVault, clock, partitions }),
      report: (report) => {
        owner.ask(report);
        return Promise.resolve();
      },
      verify: async (compared, signal) => {
        begin();
        return verifyGeneration(ports, compared, signal);
      },
    });
    const opened = new TestGenerations(log, store, owner, generations, clock);
    begin = () => opened.#beginComparison();
    return opened;
  }

  append(model: RecordModel, changes: readonly RecordChange[]): number {
    const messages = changes.map((change) => model.message(changeCodec, change));
    return this.log.append(model.partition(partitions), messages, Date.now());
  }

  /** The next comparison fails at its start. */
  failComparison(error: Error): void {
    this.#failure = error;
  }

  #beginComparison(): void {
    this.comparisons += 1;
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
  }

  async publish(model: RecordModel, changes: readonly RecordChange[]): Promise<void> {
    const offset = this.append(model, changes);
    const partition = model.partition(partitions);
    await this.generations.source.published(partition, offset, AbortSignal.timeout(30_000));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.generations[Symbol.asyncDispose]();
  }
}
