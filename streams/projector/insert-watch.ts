import { GatewayError } from '../../src/kernel/errors.ts';

/** An insert that takes longer holds up what was saved since: readers must not be told that there is nothing new. */
const slowMs = 5_000;

/** Whether inserts come through, as known from the inserts themselves. */
export class InsertWatch {
  readonly #heldUp: () => void;
  readonly #slowMs: number;
  #isHeldUp = false;

  /** `heldUp` is called each time that inserts stop coming through. */
  constructor(heldUp: () => void, { slowMs: slow = slowMs }: { readonly slowMs?: number } = {}) {
    this.#heldUp = heldUp;
    this.#slowMs = slow;
  }

  /** From the first failed insert, or one that takes too long, to the next that succeeds. */
  get isHeldUp(): boolean {
    return this.#isHeldUp;
  }

  async during(insert: () => Promise<void>): Promise<void> {
    const timer = setTimeout(() => this.#hold(), this.#slowMs);
    try {
      await insert();
      this.#isHeldUp = false;
    } catch (error) {
      // Rows that are refused hold up nothing: they are written in another way.
      if (isOutage(error)) this.#hold();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The store was found to answer; what was held up is read from the log again. */
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
