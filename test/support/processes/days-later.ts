import { fileURLToPath } from 'node:url';

const moved = fileURLToPath(new URL('move-clock.js', import.meta.url));

/** Settings of a process whose wall clock is so many days ahead, in all of its threads. */
export const daysLater = (days: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${moved}`,
  SVC_TEST_DAYS_LATER: String(days),
});
