import { fileURLToPath } from 'node:url';
import type { limits } from '../../src/kernel/limits.ts';

const shorter = fileURLToPath(new URL('shorter-limits.ts', import.meta.url));

/** Settings of a process that has these limits, in all of its threads, so that a test can come to them. */
export const withLimits = (
  given: Readonly<Partial<Record<keyof typeof limits, number>>>,
): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${shorter}`,
  SVC_TEST_LIMITS: JSON.stringify(given),
});
