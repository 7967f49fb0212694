export interface KafkaLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** No broker responds. */
export interface Outage {
  readonly ms: number;
  readonly error: unknown;
}

/** Logs once when no broker responds any more, and once when one does again. */
export class Reachability {
  readonly #logger: KafkaLogger | undefined;
  #away: { readonly since: number; error: unknown } | null = null;

  constructor(logger: KafkaLogger | undefined) {
    this.#logger = logger;
  }

  /** The current outage, with its last error. */
  get outage(): Outage | null {
    if (this.#away === null) return null;
    const { since, error } = this.#away;
    return { ms: performance.now() - since, error };
  }

  answered(): void {
    if (this.#away === null) return;
    this.#away = null;
    this.#logger?.info({}, 'Kafka answers again');
  }

  lost(error: unknown): void {
    if (this.#away !== null) {
      this.#away.error = error;
      return;
    }
    this.#away = { since: performance.now(), error };
    this.#logger?.warn({ err: error }, 'no broker of Kafka answers');
  }
}
