/**
 * A fixed piece of work, timed again and again beside the tests: how long a test file may take is a multiple of it, so
 * that a slow or busy machine turns no file red.
 */
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

const rounds = 60;
const betweenMs = 5_000;
const text = 'reference '.repeat(10_000);

/** Milliseconds that the work took: about 60 on two quiet cores. */
export function timeReferenceLoad(): number {
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    createHash('sha256').update(JSON.stringify(JSON.parse(JSON.stringify({ round, text }))));
  }
  return performance.now() - started;
}

/** Times the work every five seconds until `signal` aborts. @returns the median, in milliseconds */
export async function medianReferenceLoad(signal: AbortSignal): Promise<number> {
  const samples: number[] = [];
  do {
    samples.push(timeReferenceLoad());
    await wait(betweenMs, undefined, { signal, ref: false }).catch(() => undefined);
  } while (!signal.aborted);
  samples.sort((a, b) => a - b);
  return samples[Math.floor(samples.length / 2)] ?? 0;
}
