/**
 * A fixed piece of work, timed again and again beside the tests: how long a test file may take is a multiple of it, so
 * that a slow or busy machine turns no file red.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const rounds = 60;
const betweenMs = 5_000;
const text = 'reference '.repeat(10_000);

interface Sample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
}

/** How long the work took, over the time in which it was timed. */
export interface ReferenceLoads {
  /**
   * Median in milliseconds between two times (milliseconds since the epoch), or that of the whole run if it is larger:
   * 24 to 32 beside tests on two quiet cores, 12 alone.
   */
  during(from: number, to: number): number;
}

function timeReferenceLoad(): number {
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    createHash('sha256').update(JSON.stringify(JSON.parse(JSON.stringify({ round, text }))));
  }
  return performance.now() - started;
}

/** Times the work every five seconds until `signal` aborts. */
export async function measureReferenceLoads(signal: AbortSignal): Promise<ReferenceLoads> {
  const samples: Sample[] = [];
  do {
    samples.push({ at: Date.now(), ms: timeReferenceLoad() });
    await wait(betweenMs, undefined, { signal, ref: false }).catch(() => undefined);
  } while (!signal.aborted);
  return {
    during(from, to) {
      const then = samples.filter(({ at }) => at >= from && at <= to);
      return Math.max(medianOf(then), medianOf(samples));
    },
  };
}

function medianOf(samples: readonly Sample[]): number {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
