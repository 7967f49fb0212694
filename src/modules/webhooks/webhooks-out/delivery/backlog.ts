import type { Logger } from 'pino';
import { isOver } from '#kernel/retry.ts';
import { isToCome, type Clock, type Instant } from '#kernel/time.ts';
import type { Deliveries } from '../deliveries.ts';
import type { Delivery } from '../delivery-store.ts';

/** How often queues are checked while deliveries wait. */
const lookEveryMs = 250;
/** The longest time until the deliveries of a queue are read again: the clock may be set meanwhile. */
const lookAgainMs = 60_000;
/** The clocks of nodes may differ by this much. */
const clocksDifferMs = 60_000;
const pageMax = 500;
const failedWaitMs = 60_000;
const failedWaitMaxMs = 3_600_000;

export interface BacklogDeps {
  readonly deliveries: Deliveries;
  readonly clock: Pick<Clock, 'now' | 'nowMicros'>;
  readonly logger: Logger;
  /** Free slots of the queue. */
  room(line: string): number;
  /** Whether this process has the delivery in memory. */
  isTaken(delivery: Delivery): boolean;
  /** Whether an earlier delivery of its connection has to be finished first. */
  isBlocked(delivery: Delivery): boolean;
  /** Starts the delivery; resolves when it is finished or waits here again. */
  start(delivery: Delivery, line: string, signal: AbortSignal): Promise<void>;
}

interface EndpointBacklog {
  /** Offset of the last delivery that waits here. */
  upTo: number;
  /** Whether some were never tried: newer deliveries must not overtake them. */
  hasFresh: boolean;
  lookAt: number;
}

/**
 * The deliveries of one partition that wait in the log and not in memory: those whose endpoint has no free slot or an
 * open circuit, and those with a late next attempt. The view of deliveries returns them in order.
 */
export class Backlog {
  readonly #deps: BacklogDeps;
  readonly #partition: number;
  readonly #lines = new Map<string, EndpointBacklog>();
  /** Deliveries that could not be tried, with the time of the next try. */
  readonly #failed = new Map<string, { readonly waitMs: number; readonly at: number }>();
  #wake: () => void = () => undefined;
  #isWanted = false;
  #signal: AbortSignal | null = null;

  constructor(deps: BacklogDeps, partition: number) {
    this.#deps = deps;
    this.#partition = partition;
  }

  /** Whether deliveries of the queue wait here that precede new ones. */
  isBehind(line: string): boolean {
    return this.#lines.get(line)?.hasFresh ?? false;
  }

  /** @param dueAt time of the next attempt; null before the first attempt */
  add(line: string, offset: number, dueAt: number | null): void {
    const isFirst = this.#lines.size === 0;
    const existing = this.#lines.get(line) ?? { upTo: offset, hasFresh: false, lookAt: Infinity };
    existing.upTo = Math.max(existing.upTo, offset);
    existing.hasFresh ||= dueAt === null;
    existing.lookAt = Math.min(existing.lookAt, dueAt ?? 0, this.#deps.clock.now() + lookAgainMs);
    this.#lines.set(line, existing);
    if (isFirst) this.#wake();
  }

  /** Adds a delivery that waits for another one of its connection: `resume` starts it. */
  addBlocked(line: string, offset: number): void {
    this.add(line, offset, this.#deps.clock.now() + lookAgainMs);
  }

  /** Starts the delivery before its queue is read again, if it can continue. */
  resume(delivery: Delivery, line: string): void {
    const signal = this.#signal;
    if (signal === null || signal.aborted || this.#deps.isTaken(delivery)) return;
    const canStart = this.#deps.room(line) > 0 && this.#dueAt(delivery) <= this.#deps.clock.now();
    if (canStart) this.#start(delivery, line, signal);
    else this.add(line, delivery.offset, this.#dueAt(delivery));
  }

  /** The queue has free slots: its waiting deliveries are checked at once. */
  drained(line: string): void {
    const behind = this.#lines.get(line);
    if (behind === undefined || this.#isEarly(behind)) return;
    this.#isWanted = true;
    this.#wake();
  }

  /** Adds the unfinished deliveries of the view before the offset. */
  restore(before: number): void {
    const { tables } = this.#deps.deliveries;
    for (const { line, last } of tables.pendingLines(this.#partition, before)) {
      this.add(line, last, null);
    }
  }

  /** Starts deliveries that can continue, until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    while (!signal.aborted) {
      try {
        for (const [line, behind] of [...this.#lines]) await this.#look(line, behind, signal);
      } catch (err) {
        if (isOver(signal)) return;
        const { logger } = this.#deps;
        logger.warn({ err, partition: this.#partition }, 'the webhooks that wait were not read');
      }
      await this.#pause(signal);
    }
  }

  async #look(line: string, behind: EndpointBacklog, signal: AbortSignal): Promise<void> {
    const { deliveries, clock } = this.#deps;
    let left = this.#deps.room(line);
    if (left === 0 || this.#isEarly(behind)) return;
    const { upTo } = behind;
    await deliveries.until(this.#partition, upTo + 1);
    const rest = { hasFresh: false, lookAt: Infinity, count: 0 };
    for (let after = -1; ;) {
      const page = deliveries.tables.pending(this.#partition, line, upTo, {
        after,
        limit: pageMax,
      });
      for (const delivery of page) {
        after = delivery.offset;
        if (this.#deps.isTaken(delivery)) continue;
        if (this.#deps.isBlocked(delivery)) {
          rest.count += 1;
          continue;
        }
        const dueAt = this.#dueAt(delivery);
        if (left > 0 && dueAt <= clock.now() && !signal.aborted) {
          left -= 1;
          this.#start(delivery, line, signal);
          continue;
        }
        rest.count += 1;
        rest.hasFresh ||= delivery.attempts === 0;
        rest.lookAt = Math.min(rest.lookAt, dueAt);
      }
      if (page.length < pageMax || left === 0) {
        if (page.length === pageMax) Object.assign(rest, { hasFresh: true, lookAt: 0, count: 1 });
        break;
      }
    }
    // Deliveries may have been added while the view caught up.
    if (behind.upTo > upTo) return;
    behind.hasFresh = rest.hasFresh;
    behind.lookAt = Math.min(rest.lookAt, clock.now() + lookAgainMs);
    if (rest.count === 0) this.#lines.delete(line);
  }

  #start(delivery: Delivery, line: string, signal: AbortSignal): void {
    void this.#deps.start(delivery, line, signal).then(
      () => this.#failed.delete(nameOf(delivery)),
      (error: unknown) => this.#hold(delivery, line, error, signal),
    );
  }

  #isEarly({ lookAt }: EndpointBacklog): boolean {
    return isToCome(lookAt, this.#deps.clock.now(), lookAgainMs);
  }

  #dueAt(delivery: Delivery): number {
    const now = this.#deps.clock.now();
    const failed = this.#failed.get(nameOf(delivery));
    const isHeld = failed !== undefined && isToCome(failed.at, now, failed.waitMs);
    return Math.max(isHeld ? failed.at : 0, dueAtOf(delivery, now) ?? 0);
  }

  /** A delivery that could not be tried, for example because its key was destroyed, is retried later. */
  #hold(delivery: Delivery, line: string, error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const { logger, clock } = this.#deps;
    const { messageId, endpointId } = delivery;
    logger.warn({ err: error, messageId, endpointId }, 'a webhook that waits could not be sent');
    const before = this.#failed.get(nameOf(delivery))?.waitMs ?? failedWaitMs / 2;
    const waitMs = Math.min(before * 2, failedWaitMaxMs);
    const at = clock.now() + waitMs;
    this.#failed.set(nameOf(delivery), { waitMs, at });
    this.add(line, delivery.offset, at);
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => resolve(undefined);
    const timer =
      this.#lines.size === 0 ? null : setTimeout(wake, this.#isWanted ? 0 : lookEveryMs);
    this.#isWanted = false;
    this.#wake = wake;
    signal.addEventListener('abort', wake, { once: true });
    await promise;
    this.#wake = () => undefined;
    if (timer !== null) clearTimeout(timer);
    signal.removeEventListener('abort', wake);
  }
}

/**
 * When the next attempt of the delivery is due, ms; null = now, also where its last step was written before the clock
 * was set back.
 */
export function dueAtOf(
  { nextAttemptAt, changedAt }: Pick<Delivery, 'nextAttemptAt' | 'changedAt'>,
  now: Instant,
): Instant | null {
  const isOfLater = changedAt / 1000 > now + clocksDifferMs;
  return nextAttemptAt === null || isOfLater ? null : nextAttemptAt / 1000;
}

const nameOf = ({ messageId, endpointId }: Delivery): string => `${messageId}/${endpointId}`;
