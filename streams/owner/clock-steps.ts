import type { Clock } from '#kernel/time.ts';

const lookEveryMs = 1_000;
/** A smaller difference is the imprecision of timers and the slewing of a synchronized clock. */
const stepMinMs = 500;

/** Calls `stepped` within a second after the clock was set, or the machine was suspended: timers do not notice either. */
export function watchClockSteps(clock: Clock, stepped: () => void): Disposable {
  const ahead = (): number => clock.now() - performance.now();
  let before = ahead();
  const timer = setInterval(() => {
    const now = ahead();
    if (Math.abs(now - before) < stepMinMs) return;
    before = now;
    stepped();
  }, lookEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
