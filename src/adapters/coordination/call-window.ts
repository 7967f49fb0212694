import type { BudgetUse, CallBudget } from '#ports/coordination.ts';

/** A window is counted in so many parts: what is taken is forgotten part by part. */
const partsOfWindow = 50;
/**
 * The present part, the whole window before it, and one more: calls reach the provider after another delay each, and
 * what was taken apart may arrive together.
 */
export const partsCounted = partsOfWindow + 2;

export const partMs = ({ windowMs }: CallBudget): number =>
  Math.max(1, Math.ceil(windowMs / partsOfWindow));

/** How long the calls of a budget are remembered. */
export const rememberedMs = (budget: CallBudget): number => partsCounted * partMs(budget);

/** The calls of one budget, of this process. */
export class CallWindow {
  /** By number of the part. */
  readonly #calls = new Map<number, number>();
  #pausedUntilMs = 0;

  /** @returns 0, or after how many milliseconds to ask again */
  take(budget: CallBudget, now: number): number {
    const { calls, pausedMs } = this.use(budget, now);
    if (pausedMs > 0) return pausedMs;
    const part = Math.floor(now / partMs(budget));
    if (calls < budget.calls) {
      this.#calls.set(part, (this.#calls.get(part) ?? 0) + 1);
      return 0;
    }
    const first = Math.min(...this.#calls.keys());
    return Math.max(1, (first + partsCounted) * partMs(budget) - now);
  }

  pause(untilMs: number): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  use(budget: CallBudget, now: number): BudgetUse {
    const part = Math.floor(now / partMs(budget));
    let calls = 0;
    for (const [at, taken] of this.#calls) {
      // Of another width, if the window was changed: it begins again.
      if (at <= part - partsCounted || at > part) this.#calls.delete(at);
      else calls += taken;
    }
    return { calls, pausedMs: Math.max(0, this.#pausedUntilMs - now) };
  }
}
