import { limits } from '../../../src/kernel/limits.ts';
import type { Clock } from '../../../src/kernel/time.ts';

/** What other processes are told: a failure that may be one of five, or that the circuit opened or closed. */
export type CircuitNews = 'failed' | 'opened' | 'closed';

/**
 * Keeps attempts from an endpoint that keeps failing: five failures within 10 s open it for a minute, then one
 * attempt decides whether it closes (contract/webhooks-out.md section 3).
 */
export class Circuit {
  readonly #clock: Pick<Clock, 'now'>;
  #failures: number[] = [];
  /** Null = closed. */
  #openUntil: number | null = null;
  #isTrying = false;
  readonly #tell: (news: CircuitNews) => void;

  constructor(clock: Pick<Clock, 'now'>, tell: (news: CircuitNews) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  get isOpen(): boolean {
    return this.#openUntil !== null;
  }

  /** Whether the one attempt may be made that decides. */
  get mayTry(): boolean {
    return this.#openUntil !== null && !this.#isTrying && this.#clock.now() >= this.#openUntil;
  }

  /** Nothing is known of the endpoint that would have to be remembered. */
  get isBlank(): boolean {
    return !this.isOpen && this.#failures.length === 0;
  }

  begin(): void {
    if (this.isOpen) this.#isTrying = true;
  }

  /** An attempt that was answered, with whatever status that blames the message and not the endpoint. */
  succeeded(): void {
    if (this.isOpen) this.#tell('closed');
    this.#close();
  }

  failed(): void {
    if (this.isOpen && !this.#isTrying) return;
    if (this.#isTrying) this.#open();
    else this.#count();
    this.#tell(this.isOpen ? 'opened' : 'failed');
  }

  /** Another process has had it so with the same endpoint. */
  heard(news: CircuitNews): void {
    if (news === 'closed') this.#close();
    else if (news === 'opened') this.#open();
    else if (!this.isOpen) this.#count();
  }

  /** The attempt was cut off by the end of this process: it says nothing. */
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
  }

  #close(): void {
    this.#failures = [];
    this.#openUntil = null;
    this.#isTrying = false;
  }
}
