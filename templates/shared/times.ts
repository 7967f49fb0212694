/** Seconds since the epoch as ISO 8601. */
export const isoOfSeconds = (seconds: number | null | undefined): string | null =>
  seconds === null || seconds === undefined ? null : new Date(seconds * 1000).toISOString();
