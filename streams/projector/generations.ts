import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isOutage } from '#kernel/errors.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import type { EventLog } from '#ports/event-log.ts';
import { damagedPartOf, type ProjectionStore } from '#ports/projection-store.ts';
import type { TopicName } from '../topics.ts';
import type { FollowedProjection } from './consume-projections.ts';
import { type TableSet, dropTables } from './define.ts';
import { GenerationFeed, type FeedDeps } from './generation-feed.ts';
import type { PublishedGeneration, PublishedProjection } from './projection-message.ts';
import type { PartitionProgress, VerifiedPart } from './projection-state.ts';

/** Readers of other nodes may learn of a switch this late; what they had read ahead has a shorter lifetime. */
const readersLeaveMs = 10_000;
const levelEveryMs = 10;
const retryMs = 1_000;
const tickMs = 1_000;
/** A partition without progress for this long is stalled. */
const stalledMs = 60_000;
const leadWatchedEveryMs = 100;
/** A comparison is given up after this many attempts on one node. */
const comparisonsMax = 10;
/** While a generation is built, its state is reported every so many ticks, and when it has caught up. */
const ticksPerReport = 5;

/** A projector's report about its generation; becomes a command (`src/modules/operations/projections/decider.ts`). */
export type Report = { readonly generation: number } & (
  | {
      readonly type: 'ReportProgress';
      readonly places: Readonly<Record<string, PartitionProgress>>;
      readonly rows: number;
      /** Once it has caught up. */
      readonly newFailures?: number;
    }
  | { readonly type: 'ReportFailure'; readonly code: string }
  | {
      readonly type: 'ReportVerified';
      readonly id: string;
      readonly parts: Readonly<Record<string, VerifiedPart>>;
    }
  | { readonly type: 'ReportVerificationFailed'; readonly id: string; readonly code: string }
  | { readonly type: 'ReportRetired' }
);

/** Reads the active generation, and switches to another one. */
export interface ActiveGeneration<S> {
  switchTo(source: S): void;
  /** Called with each generation that becomes readable. */
  watch(source: S): void;
  /** Called with each generation that is no longer read. */
  leave(source: S): void;
}

/** `S` reads one generation, `A` the active one. */
export interface GenerationsDeps<S, A extends ActiveGeneration<S>, T extends TableSet>
  extends Omit<FeedDeps<S, T>, 'failed'>, ProcessPorts {
  readonly topic: TopicName;
  readonly log: Pick<EventLog, 'startOffset' | 'endOffset'>;
  readonly store: ProjectionStore;
  readonly openActive: (first: S) => A;
  /** Called with the generation that is read here, at first and after each switch. */
  readonly reads: (generation: number) => void;
  /** Removes the remains of a comparison of the generation. */
  readonly dropCopies: (generation: number) => Promise<void>;
  /**
   * Called with a reason when the active generation stalls although there is more to read, and with null when it
   * moves again.
   */
  readonly stalled: (reason: string | null) => void;
  /** Time without progress until it counts as stalled; default 60 s. */
  readonly stalledAfterMs?: number;
  /** Whether the table, or the copy of one, belongs to the generation. */
  readonly isTableOf: (table: string, generation: number) => boolean;
  /** The decided state. */
  readonly projection: FollowedProjection;
  readonly report: (report: Report) => Promise<void>;
  /**
   * Number of changes that one generation has rows of, and the other one failed to take; default: none, where no change
   * can fail. @throws GatewayError `projection_unavailable`
   */
  readonly newFailures?: (generations: {
    readonly expected: number;
    readonly found: number;
  }) => Promise<number>;
  readonly verify: (
    generations: { readonly expected: number; readonly found: number },
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, VerifiedPart>>>;
}

export interface Generations<A> extends AsyncDisposable {
  /** Reads the active generation. */
  readonly source: A;
  /** Rejects when the active generation cannot be kept up to date. */
  readonly stopped: Promise<void>;
}

/** Feeds every decided generation of a projection, and reads the active one. */
export async function startGenerations<S, A extends ActiveGeneration<S>, T extends TableSet>(
  deps: GenerationsDeps<S, A, T>,
): Promise<Generations<A>> {
  const generations = new RunningGenerations(deps);
  try {
    await generations.open();
  } catch (error) {
    await generations[Symbol.asyncDispose]();
    throw error;
  }
  return generations;
}

class RunningGenerations<
  S,
  A extends ActiveGeneration<S>,
  T extends TableSet,
> implements Generations<A> {
  readonly source: A;
  readonly #deps: GenerationsDeps<S, A, T>;
  readonly #failed = Promise.withResolvers<never>();
  readonly #fed = new Map<number, GenerationFeed<S, T>>();
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #activeFeed: GenerationFeed<S, T>;
  #work: Promise<void> = Promise.resolve();
  #ticks = 0;
  /** By partition, the end of the topic at the last tick. */
  #ends = new Map<number, number>();
  #verification: { readonly id: string; readonly done: Promise<void> } | null = null;
  /** By partition of the active generation, its position and since when. */
  readonly #standing = new Map<number, { readonly next: number; readonly since: number }>();
  #isStalled = false;
  /** The decided state is being followed, or could not be: the next tick tries again. */
  #isUnfollowed = false;
  /** Unsuccessful attempts of the comparison here. */
  #unfinished = { id: '', times: 0 };

  constructor(deps: GenerationsDeps<S, A, T>) {
    this.#deps = deps;
    this.#activeFeed = this.#add(deps.projection.current.active_generation);
    this.source = deps.openActive(this.#activeFeed.source);
    this.source.watch(this.#activeFeed.source);
    deps.reads(this.#activeFeed.number);
    this.stopped.catch(() => undefined);
    this.#timer = setInterval(() => this.#then(() => this.#tick()), tickMs).unref();
  }

  get stopped(): Promise<void> {
    return this.#failed.promise;
  }

  async open(): Promise<void> {
    const { projection } = this.#deps;
    await this.#follow(projection.current).catch((error: unknown) => {
      // The process starts, and says what is damaged; the next tick tries again.
      if (damagedPartOf(error) === null) throw error;
    });
    projection.onChange(() => this.#then(() => this.#follow(projection.current)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await this.#work;
    await this.#verification?.done;
    for (const feed of this.#fed.values()) await feed[Symbol.asyncDispose]();
  }

  /** Serializes tasks. A failed one is repeated with the next change or tick. */
  #then(task: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#isStopped() ? undefined : task()))
      .catch((err: unknown) => {
        // Each damaged part is logged once, by the thread that has the tables.
        if (damagedPartOf(err) === null && !this.#isStopped())
          this.#deps.logger.warn({ err }, 'a task of the generations failed; it is retried');
      });
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  /**
   * Of the processes that share tables, one reports and drops for all: the one that writes the first partition of
   * the first generation. Each generation distributes its partitions by itself.
   */
  get #isLeading(): boolean {
    const fed = [...this.#fed.values()].filter(({ isFed }) => isFed);
    const [first] = fed.sort((a, b) => a.number - b.number);
    return first?.holds(0) ?? false;
  }

  #add(number: number): GenerationFeed<S, T> {
    const { tableSet, partitions, openReach, openFeed, openSource } = this.#deps;
    const failed = (generation: number, error: unknown): void => this.#fail(generation, error);
    const feed = new GenerationFeed<S, T>(
      { tableSet, partitions, openReach, openFeed, openSource, failed },
      number,
    );
    this.#fed.set(number, feed);
    return feed;
  }

  #addBeside(number: number): GenerationFeed<S, T> {
    const feed = this.#add(number);
    this.source.watch(feed.source);
    return feed;
  }

  #fail(generation: number, error: unknown): void {
    this.#deps.logger.error({ err: error, generation }, 'a generation can no longer be fed');
    if (generation === this.#deps.projection.current.active_generation) {
      this.#failed.reject(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.#notify({ type: 'ReportFailure', generation, code: codeOf(error) });
  }

  #notify(report: Report): void {
    this.#deps.report(report).catch((err: unknown) => {
      this.#deps.logger.warn(
        { err, report: report.type },
        'a report could not be sent to the owner',
      );
    });
  }

  /** Brings this node to the decided state. */
  async #follow(published: PublishedProjection): Promise<void> {
    this.#isUnfollowed = true;
    const { active_generation: active, generations } = published;
    const damaged = await this.#feedAll(generations);
    if (active !== this.#activeFeed.number && !damaged.has(active)) await this.#switchTo(active);
    const existing = new Set(generations.map(({ generation }) => generation));
    for (const feed of [...this.#fed.values()]) {
      if (!existing.has(feed.number)) await this.#forget(feed);
    }
    for (const one of generations) {
      if (one.state === 'retiring') await this.#retire(one);
      if (one.verification_id !== null) this.#verify(one, active);
    }
    for (const error of damaged.values()) throw error;
    this.#isUnfollowed = false;
  }

  /** Resolves with the errors of damaged ones, which hold up no others: those replace them. */
  async #feedAll(
    generations: PublishedProjection['generations'],
  ): Promise<ReadonlyMap<number, unknown>> {
    const damaged = new Map<number, unknown>();
    for (const one of generations) {
      try {
        await this.#feed(one);
      } catch (error) {
        if (damagedPartOf(error) === null) throw error;
        damaged.set(one.generation, error);
      }
    }
    return damaged;
  }

  async #feed(published: PublishedGeneration): Promise<void> {
    const { generation, state } = published;
    if (state === 'retiring') return;
    const feed = this.#fed.get(generation) ?? this.#addBeside(generation);
    feed.isBuilding = state === 'building';
    feed.pacePercent = published.pace_percent;
    if (published.is_paused || state === 'failed') await feed.stop();
    else await feed.start();
  }

  /** Switches when the other generation has everything that this one has. */
  async #switchTo(number: number): Promise<void> {
    const { logger, partitions } = this.#deps;
    const from = this.#activeFeed;
    const target = this.#fed.get(number);
    if (target === undefined) return;
    const isLevel = (): boolean =>
      partitionNumbers(partitions).every(
        (partition) => target.reach.next(partition) >= from.reach.next(partition),
      );
    for (;;) {
      await from.reach.refresh();
      await target.reach.refresh();
      if (isLevel()) break;
      await sleep(levelEveryMs, undefined, { signal: this.#stop.signal });
    }
    this.#activeFeed = target;
    this.source.switchTo(target.source);
    this.#deps.reads(number);
    logger.info({ from: from.number, to: number }, 'switched to another generation');
  }

  /** Drops the tables once they can no longer be read. */
  async #retire({ generation, switched_at: switchedAt }: PublishedGeneration): Promise<void> {
    const { store, clock, tableSet } = this.#deps;
    const feed = this.#fed.get(generation);
    if (feed === this.#activeFeed) return;
    if (clock.now() < (switchedAt ?? 0) / 1000 + readersLeaveMs) return;
    if (feed !== undefined) await this.#forget(feed);
    if (!this.#isLeading) return;
    await this.#deps.dropCopies(generation);
    await dropTables(store, tableSet(generation));
    this.#notify({ type: 'ReportRetired', generation });
  }

  async #forget(feed: GenerationFeed<S, T>): Promise<void> {
    if (feed === this.#activeFeed) return;
    this.#fed.delete(feed.number);
    this.source.leave(feed.source);
    await feed[Symbol.asyncDispose]();
  }

  #verify({ generation, verification_id: id }: PublishedGeneration, expected: number): void {
    if (id === null || this.#verification !== null || !this.#isLeading) return;
    if (this.#unfinished.id !== id) this.#unfinished = { id, times: 0 };
    const done = this.#compare({ expected, found: generation }, id).finally(() => {
      // Its report may not have returned yet: the same comparison is not started again.
      setTimeout(() => {
        if (this.#verification?.id === id) this.#verification = null;
      }, retryMs).unref();
    });
    this.#verification = { id, done };
  }

  /** A comparison that another node must run, or that failed temporarily, is started again by a later tick. */
  async #compare(
    compared: { readonly expected: number; readonly found: number },
    id: string,
  ): Promise<void> {
    const { verify, logger } = this.#deps;
    const { found: generation } = compared;
    const overtaken = new AbortController();
    const watch = setInterval(() => {
      if (!this.#isLeading) overtaken.abort();
    }, leadWatchedEveryMs).unref();
    try {
      const signal = AbortSignal.any([this.#stop.signal, overtaken.signal]);
      const parts = await verify(compared, signal);
      this.#notify({ type: 'ReportVerified', generation, id, parts });
    } catch (error) {
      if (this.#isStopped()) return;
      if (this.#reportCorruption(error, compared, id)) return;
      const unfinished = { id, times: this.#unfinished.times + 1 };
      this.#unfinished = unfinished;
      if (!this.#isLeading || (isOutage(error) && unfinished.times < comparisonsMax)) {
        logger.warn({ err: error, ...compared }, 'a comparison of generations is retried');
        return;
      }
      logger.error({ err: error, ...compared }, 'generations could not be compared');
      this.#notify({ type: 'ReportVerificationFailed', generation, id, code: codeOf(error) });
    } finally {
      clearInterval(watch);
    }
  }

  /**
   * A damaged active generation cannot be compared, and may be left without a comparison; a damaged new one has failed.
   */
  #reportCorruption(
    error: unknown,
    { found: generation }: { readonly found: number },
    id: string,
  ): boolean {
    const damaged = damagedPartOf(error);
    if (damaged === null || !this.#isLeading) return false;
    const isOfNew = this.#deps.isTableOf(damaged.table, generation);
    const code = 'projection_damaged';
    this.#notify(
      isOfNew
        ? { type: 'ReportFailure', generation, code }
        : { type: 'ReportVerificationFailed', generation, id, code },
    );
    return true;
  }

  async #tick(): Promise<void> {
    const { projection } = this.#deps;
    this.#ticks += 1;
    const { generations } = projection.current;
    const building = generations.filter((one) => one.state === 'building' && !one.is_paused);
    if (building.length === 0) this.#ends.clear();
    else if (this.#isLeading) await this.#progressOf(building);
    // Waiting for its time, or failed before.
    const isUnsettled = projection.current.active_generation !== this.#activeFeed.number;
    const isWaiting = generations.some(
      ({ state, verification_id: id }) => state === 'retiring' || id !== null,
    );
    if (isUnsettled || isWaiting || this.#isUnfollowed) await this.#follow(projection.current);
    await this.#watchProgress();
  }

  /** Whether every partition that this node projects makes progress, or has nothing to read. */
  async #watchProgress(): Promise<void> {
    const { log, topic, partitions, projection, stalled } = this.#deps;
    const { stalledAfterMs = stalledMs } = this.#deps;
    const { active_generation: active, generations } = projection.current;
    const isPaused = generations.some((one) => one.generation === active && one.is_paused);
    const now = performance.now();
    let stuck: number | null = null;
    for (const partition of partitionNumbers(partitions)) {
      const next = this.#activeFeed.reach.next(partition);
      const before = this.#standing.get(partition);
      const isIdle = isPaused || !this.#activeFeed.holds(partition);
      const end = isIdle ? next : await log.endOffset(topic, partition);
      if (before === undefined || before.next !== next || next >= end)
        this.#standing.set(partition, { next, since: now });
      else if (now - before.since > stalledAfterMs) stuck ??= partition;
    }
    if ((stuck !== null) === this.#isStalled) return;
    this.#isStalled = stuck !== null;
    stalled(stuck === null ? null : `partition ${stuck} of ${topic} is not projected any more`);
  }

  /** A partition has caught up when it has passed the end of the topic at the previous tick. */
  async #progressOf(building: PublishedProjection['generations']): Promise<void> {
    const { log, partitions, topic } = this.#deps;
    const passed = this.#ends;
    const starts: number[] = [];
    this.#ends = new Map();
    for (const partition of partitionNumbers(partitions)) {
      starts.push(await log.startOffset(topic, partition));
      this.#ends.set(partition, await log.endOffset(topic, partition));
    }
    for (const { generation } of building) {
      const feed = this.#fed.get(generation);
      if (feed === undefined) continue;
      await feed.reach.refresh();
      const places = starts.map((start, partition): PartitionProgress => {
        const next = Math.max(start, feed.reach.next(partition));
        const end = this.#ends.get(partition) ?? start;
        return { start, next, end, isCaughtUp: next >= (passed.get(partition) ?? Infinity) };
      });
      await this.#reportProgress(feed, places);
    }
  }

  async #reportProgress(
    feed: GenerationFeed<S, T>,
    places: readonly PartitionProgress[],
  ): Promise<void> {
    const { number: generation } = feed;
    const isReady = places.every(({ isCaughtUp }) => isCaughtUp);
    if (!isReady && this.#ticks % ticksPerReport !== 1) return;
    const rows = await this.#rowsOf(feed);
    const report = {
      type: 'ReportProgress',
      generation,
      places: Object.fromEntries(places.entries()),
      rows,
    } as const;
    const { active_generation: expected } = this.#deps.projection.current;
    const isCompared = isReady && generation !== expected;
    const newFailures = isCompared
      ? await this.#deps.newFailures?.({ expected, found: generation })
      : undefined;
    this.#notify(newFailures === undefined ? report : { ...report, newFailures });
  }

  async #rowsOf({ tables }: GenerationFeed<S, T>): Promise<number> {
    const [found] = await this.#deps.store.queryRows<{ rows: string }>(
      `SELECT sum(rows) AS rows FROM system.parts
       WHERE active AND database = currentDatabase() AND table = {table:String}`,
      { table: tables.tables[0] },
    );
    return Number(found?.rows ?? 0);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof GatewayError ? error.code : 'server_error';
