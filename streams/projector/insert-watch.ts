import { GatewayError } from '../../src/kernel/errors.ts';

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

const isOutage = (error: unknown): boolean =>
  error instanceof GatewayError && error.code === 'projection_unavailable';
