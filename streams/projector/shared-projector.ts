import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { GatewayError, isOutage } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import { isOver, retrying } from '#kernel/retry.ts';
import type { Coordination, Lease } from '#ports/coordination.ts';
import type { EventLog, GroupHandler, Membership } from '#ports/event-log.ts';
import type { Insert, ProjectionStore } from '#ports/projection-store.ts';
import type { TopicName } from '../topics.ts';
import type { ProjectionTables, TableSet } from './define.ts';

/** Each generation has a consumer group of its own. */
export const projectorGroup = (
  { name }: Pick<ProjectionTables, 'name'>,
  { generation }: TableSet,
): string =>
  generation === 1 ? `svc.${name}-projection` : `svc.${name}-projection-g${generation}`;

/** Interval of the process's own heartbeat; after a longer silence the process must assume that it was replaced. */
const tickMs = 500;
const silenceMaxMs = 5_000;
const retryMs = 500;

/** Projects some partitions. */
interface HeldProjector extends AsyncDisposable {
  /** Rejects when it cannot continue. */
  readonly stopped: Promise<void>;
}

interface SharedProjectorDeps {
  readonly log: EventLog;
  readonly store: ProjectionStore;
  readonly logger: Pick<Logger, 'warn'>;
  readonly topic: TopicName;
  /** The group that distributes the partitions. */
  readonly group: string;
  /** Starts to project the partitions from their stored positions on, into this store. */
  readonly begin: (held: readonly number[], store: ProjectionStore) => Promise<HeldProjector>;
  /** Called when cached knowledge of the tables may be older than what others have written. */
  readonly forget: () => void;
  /** Brings the tables to their current form; retried until it succeeds. */
  readonly prepare: () => Promise<void>;
}

interface SharedProjector extends AsyncDisposable {
  /** Whether this process currently projects the partition: no other writes its rows. */
  holds(partition: number): boolean;
  /**
   * Resolves when readers may rely on what is known of the partition here.
   * @throws GatewayError `projection_unavailable` while what was saved cannot be inserted
   */
  readable(partition: number): Promise<void>;
  /** Rejects when the projector cannot continue. */
  readonly stopped: Promise<void>;
}

/**
 * Projects the partitions that the group of projectors assigns to this process. A partition resumes at its stored
 * position; it is released when the last insert has ended and its position is stored.
 */
export async function startSharedProjector(deps: SharedProjectorDeps): Promise<SharedProjector> {
  const shared = new RunningProjector(deps);
  await shared.join();
  return shared;
}

class RunningProjector implements SharedProjector {
  readonly stopped: Promise<void>;
  readonly #deps: SharedProjectorDeps;
  readonly #store: ProjectionStore;
  readonly #inserts: InsertWatch;
  readonly #failed = Promise.withResolvers<undefined>();
  readonly #timer: NodeJS.Timeout;
  #membership: Promise<Membership> | null = null;
  #assigned = new Set<number>();
  /** The partitions of the running projector. */
  #held = new Set<number>();
  #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #tickedAt = performance.now();
  #isClosed = false;

  constructor(deps: SharedProjectorDeps) {
    this.#deps = deps;
    this.#store = this.#guarded(deps.store);
    // What was read ahead is older than the rows that wait to be inserted.
    this.#inserts = new InsertWatch(() => deps.forget());
    this.stopped = this.#failed.promise;
    this.stopped.catch(() => undefined);
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  async join(): Promise<void> {
    const { log, group, topic } = this.#deps;
    const handler: GroupHandler = {
      assigned: (partitions) => {
        this.#assigned = new Set([...this.#assigned, ...partitions]);
        void this.#restart();
      },
      revoked: (partitions) => {
        this.#assigned = this.#assigned.difference(new Set(partitions));
        return this.#restart();
      },
    };
    // Positions are stored beside the rows.
    this.#membership = log.join(group, [topic], handler, { hasPositions: false });
    await this.#membership;
  }

  holds(partition: number): boolean {
    return this.#held.has(partition) && !this.#isSilent();
  }

  async readable(partition: number): Promise<void> {
    if (!this.#held.has(partition) || !this.#inserts.isHeldUp) return;
    throw new GatewayError('projection_unavailable', { retryAfterS: 1 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#leave();
  }

  /** Resolves when the former projector has ended; the next one starts by itself. */
  #restart(): Promise<void> {
    const before = this.#running;
    this.#ending.abort();
    this.#held.clear();
    const ending = new AbortController();
    this.#ending = ending;
    const partitions = [...this.#assigned];
    this.#running = before.then(() => this.#run(partitions, ending.signal));
    this.#running.catch((error: unknown) => this.#failed.reject(error));
    return before.catch(() => undefined);
  }

  async #run(held: readonly number[], signal: AbortSignal): Promise<void> {
    if (held.length === 0 || signal.aborted) return;
    const projector = await this.#start(held, signal);
    if (projector === null) return;
    const ended = Promise.withResolvers<undefined>();
    signal.addEventListener('abort', () => ended.resolve(undefined), { once: true });
    try {
      if (isOver(signal)) return;
      this.#held = new Set(held);
      await Promise.race([ended.promise, projector.stopped]);
    } finally {
      await projector[Symbol.asyncDispose]();
    }
  }

  /** Null when the signal aborted first; an outage is waited out. */
  async #start(held: readonly number[], signal: AbortSignal): Promise<HeldProjector | null> {
    const { logger, forget, begin } = this.#deps;
    const start = async (): Promise<HeldProjector> => {
      await this.#deps.prepare();
      // Others have projected since.
      forget();
      const projector = await begin(held, this.#store);
      this.#inserts.reset();
      return projector;
    };
    return retrying(start, {
      signal,
      failed: (err) => logger.warn({ err, partitions: held }, 'partitions cannot be projected yet'),
      firstMs: retryMs,
    }).catch((error: unknown) => {
      if (isOver(signal)) return null;
      throw error;
    });
  }

  #tick(): void {
    const wasSilent = this.#isSilent();
    this.#tickedAt = performance.now();
    if (!wasSilent || this.#isClosed) return;
    this.#deps.logger.warn('this process was suspended; its partitions are started again');
    this.#ending.abort();
    this.#held.clear();
    this.#leave()
      .then(() => (this.#isClosed ? undefined : this.join()))
      .catch((error: unknown) => this.#failed.reject(error));
  }

  /** Whether this process was suspended for so long that others may project its partitions. */
  #isSilent(): boolean {
    return performance.now() - this.#tickedAt > silenceMaxMs;
  }

  async #leave(): Promise<void> {
    const membership = await this.#membership;
    await membership?.[Symbol.asyncDispose]();
    await this.#running;
  }

  /** Right after a suspension this process must not write: it does not know yet that it was replaced. */
  #guarded(store: ProjectionStore): ProjectionStore {
    return overridden(store, {
      insert: async (insert: Insert) => {
        if (this.#isSilent()) throw new GatewayError('projection_unavailable');
        await this.#inserts.during(() => store.insert(insert));
      },
    });
  }
}

/** A slower insert delays what was saved since: readers must not conclude that there is nothing new. */
const slowMs = 5_000;

/** Whether inserts succeed, derived from the inserts themselves. */
export class InsertWatch {
  readonly #heldUp: () => void;
  readonly #slowMs: number;
  #isHeldUp = false;

  /** `heldUp` is called each time that inserts stop succeeding. */
  constructor(heldUp: () => void, { slowMs: slow = slowMs }: { readonly slowMs?: number } = {}) {
    this.#heldUp = heldUp;
    this.#slowMs = slow;
  }

  /** From the first failed or slow insert to the next that succeeds. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  async during(insert: () => Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.#hold(), this.#slowMs);
    try {
      await insert();
      this.#isHeldUp = false;
    } catch (error) {
      // Refused rows delay nothing: they are written in another way.
      if (isOutage(error)) this.#hold();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The store responded; delayed rows are read from the log again. */
  reset(): void {
    this.#isHeldUp = false;
  }

  #hold(): void {
    if (this.#isHeldUp) return;
    this.#isHeldUp = true;
    this.#heldUp();
  }
}

/** How long a crashed holder's lease blocks others. */
const leaseMs = 15_000;
const extendEveryMs = 5_000;
const askAgainMs = 20;

/**
 * The store of one of several projectors with replicated tables. Such a table takes one insert at a time across all
 * nodes and refuses a second one, so that inserts are serialized by a lease; rows that arrive meanwhile go with the
 * next insert. Without Coordination inserts are not serialized, and a refused one is retried.
 */
export function serializeInserts(
  store: ProjectionStore,
  deps: {
    readonly coordination: Pick<Coordination, 'acquire' | 'release'>;
    readonly logger: Pick<Logger, 'debug'>;
  },
): ProjectionStore {
  return overridden(store, {
    insert: async (insert) => {
      await using _ = await turnOf(`projection/inserts/${insert.table}`, deps);
      await store.insert(insert);
    },
  });
}

type Deps = Parameters<typeof serializeInserts>[1];

/** Resolves when the lease is held; it is held until disposed. */
async function turnOf(name: string, deps: Deps): Promise<AsyncDisposable> {
  const lease = await acquired(name, deps);
  if (lease === null) return { [Symbol.asyncDispose]: () => Promise.resolve() };
  const { coordination, logger } = deps;
  const extend = (): void => {
    coordination.acquire(name, { ttlMs: leaseMs, token: lease.token }).catch((err: unknown) => {
      logger.debug({ err }, 'the lease for inserts could not be extended');
    });
  };
  const timer = setInterval(extend, extendEveryMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await coordination.release(lease);
    },
  };
}

/** Null when the nodes cannot reach one another. */
async function acquired(name: string, { coordination, logger }: Deps): Promise<Lease | null> {
  for (;;) {
    try {
      const lease = await coordination.acquire(name, { ttlMs: leaseMs });
      if (lease !== null) return lease;
    } catch (err) {
      if (!(err instanceof GatewayError && err.code === 'coordination_unavailable')) throw err;
      logger.debug({ err }, 'inserting without a lease');
      return null;
    }
    await sleep(askAgainMs);
  }
}
