import type { KafkaLogger } from './reachability.ts';

const everyMs = 60_000;

/** Logs failures of group members: once at the start, once a minute, and once when all work again. */
export class GroupTrouble {
  readonly #logger: KafkaLogger | undefined;
  readonly #now: () => number;
  readonly #groups = new Set<string>();
  #since = 0;
  #loggedAt = 0;

  /** @param now monotonic milliseconds */
  constructor(logger: KafkaLogger | undefined, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  failed(group: string, error: unknown): void {
    const now = this.#now();
    const isFirst = this.#groups.size === 0;
    this.#groups.add(group);
    if (isFirst) this.#since = now;
    else if (now - this.#loggedAt < everyMs) return;
    this.#loggedAt = now;
    const fields = { err: error, groups: [...this.#groups], seconds: this.#seconds(now) };
    this.#logger?.warn(fields, 'group member cannot work');
  }

  works(group: string): void {
    if (!this.#groups.delete(group) || this.#groups.size > 0) return;
    this.#logger?.info({ seconds: this.#seconds(this.#now()) }, 'group members work again');
  }

  /** It has left its group, failing or not. */
  left(group: string): void {
    this.#groups.delete(group);
  }

  #seconds(now: number): number {
    return Math.round((now - this.#since) / 1000);
  }
}
