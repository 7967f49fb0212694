import { limits } from '../../../src/kernel/limits.ts';
import type { Clock } from '../../../src/kernel/time.ts';

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

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
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
    this.#failures = [];
    this.#openUntil = null;
    this.#isTrying = false;
  }

  failed(): void {
    const now = this.#clock.now();
    if (this.isOpen && !this.#isTrying) return;
    this.#failures = this.#failures.filter((at) => at > now - limits.webhookCircuitWindowMs);
    this.#failures.push(now);
    if (!this.#isTrying && this.#failures.length < limits.webhookCircuitFailures) return;
    this.#isTrying = false;
    this.#failures = [];
    this.#openUntil = now + limits.webhookCircuitOpenMs;
  }

  /** The attempt was cut off by the end of this process: it says nothing. */
  abandoned(): void {
    this.#isTrying = false;
  }
}
