import { limits } from '#kernel/limits.ts';
import type { Clock } from '#kernel/time.ts';

/** An event published to other processes: a failure that counts, or that the circuit opened or closed. */
export type CircuitBroadcast = 'failed' | 'opened' | 'closed';

export interface CircuitEvents {
  readonly publish: (broadcast: CircuitBroadcast) => void;
  /** The circuit has opened or closed, because of an attempt here or in another process. */
  readonly onChange: () => void;
}

/** How long after its probe time an open circuit is deleted. */
const forgottenMs = 3_600_000;

/**
 * Blocks attempts to a URL that keeps failing: five failures within 10 s open it for a minute, then one attempt decides
 * whether it closes (docs/reference/webhooks-out.md#circuit-breaker).
 */
export class Circuit {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #events: CircuitEvents;
  #failures: number[] = [];
  /** Null = closed. */
  #openUntil: number | null = null;
  #isTrying = false;

  constructor(clock: Pick<Clock, 'now'>, events: CircuitEvents) {
    this.#clock = clock;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Whether the probe attempt may be made. */
  get mayTry(): boolean {
    return this.#openUntil !== null && !this.#isTrying && this.#clock.now() >= this.#openUntil;
  }

  /** The circuit has no state to keep. */
  get isBlank(): boolean {
    const now = this.#clock.now();
    if (this.#openUntil !== null) return !this.#isTrying && now > this.#openUntil + forgottenMs;
    return this.#failures.every((at) => at <= now - limits.webhookCircuitWindowMs);
  }

  /** Whether an attempt may be made; each allowed attempt ends with `succeeded`, `failed` or `abandoned`. */
  begin(): boolean {
    if (!this.isOpen) return true;
    if (!this.mayTry) return false;
    this.#isTrying = true;
    return true;
  }

  /** An attempt with a response, including statuses that blame the message and not the endpoint. */
  succeeded(): void {
    if (this.isOpen) this.#events.publish('closed');
    this.#close();
  }

  failed(): void {
    if (this.isOpen && !this.#isTrying) return;
    if (this.#isTrying) this.#open();
    else this.#count();
    this.#events.publish(this.isOpen ? 'opened' : 'failed');
  }

  /** The event of another process for the same URL. */
  heard(broadcast: CircuitBroadcast): void {
    if (broadcast === 'closed') this.#close();
    else if (broadcast === 'opened') this.#open();
    else if (!this.isOpen) this.#count();
  }

  /** The end of this process aborted the attempt: it does not count. */
  abandoned(): void {
    this.#isTrying = false;
  }

  #count(): void {
    const now = this.#clock.now();
    this.#failures = this.#failures.filter((at) => at > now - limits.webhookCircuitWindowMs);
    this.#failures.push(now);
    if (this.#failures.length >= limits.webhookCircuitFailures) this.#open();
  }

  #open(): void {
    this.#isTrying = false;
    this.#failures = [];
    this.#openUntil = this.#clock.now() + limits.webhookCircuitOpenMs;
    this.#events.onChange();
  }

  #close(): void {
    const wasOpen = this.isOpen;
    this.#failures = [];
    this.#openUntil = null;
    this.#isTrying = false;
    if (wasOpen) this.#events.onChange();
  }
}
