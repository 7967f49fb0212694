import type { Logger } from 'pino';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { pauseMs } from '#kernel/retry.ts';
import { placeText } from '../position.ts';
import type { FeedServices } from '../read-changes.ts';
import { subscriptionRef, type SubscriptionEntity } from '../subscriptions/entity.ts';
import type { SubscriptionIdentity } from '../subscriptions/handlers.ts';
import { parkedText } from '../subscriptions/parked.ts';
import {
  deliveriesOf,
  type Delivery,
  type ParkedChange,
  type Subscription,
} from '../subscriptions/subscription.ts';
import { readBatch, type ChangeBatch } from './batch.ts';
import type { OpenedTarget, OpenTarget } from './target.ts';

export interface WorkerDeps extends FeedServices {
  readonly logger: Logger;
  readonly openTarget: OpenTarget;
  /** Where crash tests may end the process. */
  readonly faultPoint: (name: string) => void;
}

/** Partitions of a subscription that are delivered at the same time. */
const partitionsMax = 8;
/** Messages without a wanted change after which the position follows. */
const skippedMin = 10_000;
const firstPauseMs = 1_000;
const lastPauseMs = 60_000;
const reasonCharsMax = 1_000;
const options = { actor: 'system' };

/** What the process knows of a partition beyond the state. */
interface PartitionProgress {
  /** Offset up to which there is no wanted change. */
  scanned: number;
  /** Of the monotonic clock: when it goes on after a failure. */
  dueAt: number;
  /** After all attempts of a batch failed: it is halved until the change that fails is alone. */
  search: { readonly end: number; readonly size: number } | null;
}

/** Delivers the changes of one subscription: each partition in order, several at the same time. */
export class SubscriptionWorker implements AsyncDisposable {
  readonly #deps: WorkerDeps;
  readonly #identity: SubscriptionIdentity;
  readonly #stop = new AbortController();
  readonly #running = new Map<number | 'replays', Promise<void>>();
  #progress = new Map<number, PartitionProgress>();
  /** Of the state that the progress belongs to. */
  #version = '';

  constructor(deps: WorkerDeps, identity: SubscriptionIdentity) {
    this.#deps = deps;
    this.#identity = identity;
  }

  /** Starts what is due and not running. @param ends of the partitions of the log */
  look(state: Subscription, ends: readonly number[]): void {
    const version = `${state.uid}/${state.moves}/${JSON.stringify(state.filter)}`;
    if (version !== this.#version) this.#progress = new Map();
    this.#version = version;
    const now = performance.now();
    const busy = new Set(deliveriesOf(state).map(({ partition }) => partition));
    ends.forEach((end, partition) => {
      const { scanned, dueAt } = this.#of(partition);
      const isBehind = end > Math.max(scanned, state.offsets[partition] ?? 0);
      if (dueAt > now || !(isBehind || busy.has(partition))) return;
      if (this.#running.size < partitionsMax) this.#run(partition, () => this.#deliver(partition));
    });
    if (state.parked.some(({ isReplayed }) => isReplayed)) {
      this.#run('replays', () => this.#replay());
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }

  #of(partition: number): PartitionProgress {
    const existing = this.#progress.get(partition);
    const progress = existing ?? { scanned: 0, dueAt: 0, search: null };
    if (existing === undefined) this.#progress.set(partition, progress);
    return progress;
  }

  #run(name: number | 'replays', task: () => Promise<void>): void {
    if (this.#running.has(name) || this.#stop.signal.aborted) return;
    const running = task()
      .catch((err: unknown) => this.#noteFailure(name, err))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }

  /** Of the service, not of the target. */
  #noteFailure(name: number | 'replays', err: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (name !== 'replays') this.#of(name).dueAt = performance.now() + firstPauseMs;
    // It was moved or deleted meanwhile.
    const isOutdated =
      err instanceof GatewayError && (err.code === 'conflict' || err.code === 'not_found');
    if (isOutdated) return;
    const { name: subscription } = this.#identity;
    this.#deps.logger.warn({ err, subscription }, 'changes are delivered later');
  }

  /** Null: it is gone, or waits. */
  #current(): { readonly state: Subscription; readonly target: OpenedTarget } | null {
    const { control, openTarget } = this.#deps;
    if (this.#stop.signal.aborted) return null;
    const state = control.view.find(this.#ref);
    const target = state === null ? null : openTarget(state);
    return state === null || target === null ? null : { state, target };
  }

  get #ref() {
    const { environmentUid, name } = this.#identity;
    return subscriptionRef(environmentUid, name);
  }

  async #execute(body: CommandOf<SubscriptionEntity>): Promise<void> {
    await this.#deps.control.execute(this.#ref, body, options);
  }

  /** Until the partition has no more, or a batch has failed. */
  async #deliver(partition: number): Promise<void> {
    for (;;) {
      const current = this.#current();
      if (current === null || !(await this.#deliverBatch(partition, current.state, current.target)))
        return;
    }
  }

  /** Whether the next batch may follow. */
  async #deliverBatch(
    partition: number,
    state: Subscription,
    target: OpenedTarget,
  ): Promise<boolean> {
    const { moves } = state;
    const begun = deliveriesOf(state).find((one) => one.partition === partition);
    const batch = await this.#read(partition, state, target, begun);
    if (begun === undefined) {
      const { next, epoch } = batch;
      if (batch.changes.length === 0) {
        this.#of(partition).scanned = next;
        const isFar = next - (state.offsets[partition] ?? 0) >= skippedMin;
        if (isFar) await this.#execute({ type: 'Skip', partition, next, epoch, moves });
        return false;
      }
      await this.#execute({ type: 'BeginDelivery', partition, next, epoch, moves });
      this.#deps.faultPoint('deliveries:after-begin');
      return true;
    }
    return this.#send(state, target, begun, batch);
  }

  #read(
    partition: number,
    state: Subscription,
    { batchSize, isOfConnection }: OpenedTarget,
    begun: Delivery | undefined,
  ): Promise<ChangeBatch> {
    const { environmentUid, filter, offsets, epochs } = state;
    const { scanned, search } = this.#of(partition);
    const offset = offsets[partition] ?? 0;
    const next = begun === undefined ? Math.max(offset, scanned) : offset;
    const limits =
      begun === undefined
        ? { size: Math.min(batchSize, search?.size ?? batchSize), isOfConnection }
        : { size: Infinity, isOfConnection, end: begun.next };
    const from = { partition, next, epoch: epochs[partition] ?? 0 };
    const query = { environmentUid, filter };
    return readBatch(this.#deps, query, from, limits, this.#stop.signal);
  }

  async #send(
    { uid, moves, offsets }: Subscription,
    target: OpenedTarget,
    { partition, next, epoch, attempt, failures }: Delivery,
    { changes }: ChangeBatch,
  ): Promise<boolean> {
    const progress = this.#of(partition);
    const identity = { partition, next, attempt, moves };
    const range = `${offsets[partition] ?? 0}-${next}`;
    const id = uuidV5(uid, `${moves}/${partition}/${range}`);
    const outcome =
      changes.length === 0
        ? { isTaken: true as const }
        : await target.send(changes, { id, attempt }, this.#stop.signal);
    this.#deps.faultPoint('deliveries:after-send');
    if (outcome.isTaken) {
      await this.#execute({ type: 'EndDelivery', ...identity });
      if (progress.search !== null && next >= progress.search.end) progress.search = null;
      return true;
    }
    const { isByTarget } = outcome;
    const isLast = isByTarget && failures >= (progress.search === null ? target.retries : 0);
    if (!isLast) {
      await this.#execute({ type: 'FailDelivery', ...identity, isByTarget });
      progress.dueAt = performance.now() + pauseMs(attempt, firstPauseMs, lastPauseMs);
      return false;
    }
    const [first] = changes;
    if (first !== undefined && changes.length === 1) {
      const park = { place: first.place, reason: outcome.reason.slice(0, reasonCharsMax) };
      await this.#park({ type: 'EndDelivery', ...identity, park });
      progress.search = null;
      return true;
    }
    const size = Math.ceil(changes.length / 2);
    progress.search = { end: progress.search?.end ?? next, size };
    const half = changes[size - 1]?.next ?? next;
    await this.#execute({ type: 'BeginDelivery', partition, next: half, epoch, moves });
    return true;
  }

  /** Waits where the list of parked changes is full. */
  async #park(
    body: Extract<CommandOf<SubscriptionEntity>, { type: 'EndDelivery' }>,
  ): Promise<void> {
    try {
      await this.#execute(body);
    } catch (error) {
      const isFull = error instanceof GatewayError && error.code === 'resource_capped';
      if (!isFull) throw error;
      const { partition, next, attempt, moves } = body;
      await this.#execute({
        type: 'FailDelivery',
        ...{ partition, next, attempt, moves },
        isByTarget: true,
      });
      this.#of(partition).dueAt = performance.now() + lastPauseMs;
      throw new GatewayError('conflict', { message: error.message });
    }
  }

  async #replay(): Promise<void> {
    for (;;) {
      const current = this.#current();
      const parked = current?.state.parked.find(({ isReplayed }) => isReplayed);
      if (current === null || parked === undefined) return;
      await this.#replayOne(current.state, current.target, parked);
    }
  }

  async #replayOne(state: Subscription, target: OpenedTarget, parked: ParkedChange): Promise<void> {
    const { partition, offset, parkedAt, replays = 0 } = parked;
    const place = { partition, offset };
    const text = await parkedText(this.#deps, state, place);
    if (text === null) {
      const reason = 'The log no longer has the change.';
      await this.#execute({ type: 'FailReplay', place, reason });
      return;
    }
    const { connection_uid: connectionUid } = JSON.parse(text) as { connection_uid: string };
    const id = uuidV5(state.uid, `replay/${placeText(place)}/${parkedAt}`);
    const batch = { id, attempt: replays + 1 };
    const outcome = await target.send([{ text, connectionUid }], batch, this.#stop.signal);
    if (outcome.isTaken) await this.#execute({ type: 'Release', place });
    else {
      const reason = outcome.reason.slice(0, reasonCharsMax);
      await this.#execute({ type: 'FailReplay', place, reason });
    }
  }
}
