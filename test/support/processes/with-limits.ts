import { fileURLToPath } from 'node:url';
import type { limits } from '#kernel/limits.ts';

/** Set for a process that has other limits. */
export const limitsVariable = 'SVC_TEST_LIMITS';

const shorter = fileURLToPath(new URL('shorter-limits.ts', import.meta.url));

/** Settings of a process that has these limits, in all of its threads, so that a test can come to them. */
export const withLimits = (
  given: Readonly<Partial<Record<keyof typeof limits, number>>>,
): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${shorter}`,
  [limitsVariable]: JSON.stringify(given),
});
