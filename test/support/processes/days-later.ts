import { renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const moved = fileURLToPath(new URL('move-clock.js', import.meta.url));

/** Settings of a process whose wall clock is so many days ahead, in all of its threads. */
export const daysLater = (days: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=${moved}`,
  SVC_TEST_DAYS_LATER: String(days),
});

/** A wall clock of processes that a test moves while they run. */
export interface ProcessClock {
  readonly env: Readonly<Record<string, string>>;
  /** Puts it so many days ahead of the clock of the machine. */
  moveTo(days: number): void;
}

/** @param file holds the days */
export function processClock(file: string): ProcessClock {
  const moveTo = (days: number): void => {
    writeFileSync(`${file}.new`, String(days));
    renameSync(`${file}.new`, file);
  };
  moveTo(0);
  const env = { NODE_OPTIONS: `--import=${moved}`, SVC_TEST_DAYS_LATER_FILE: file };
  return { env, moveTo };
}
