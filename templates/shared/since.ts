const overlapMs = 60_000;

/**
 * The time from which the next run asks for changes, in milliseconds since the epoch. Call it before the first request
 * of this run. The minute before covers clocks that differ and indexes that lag; what is read twice stays unchanged.
 */
export const nextSince = (): number => new Date().getTime() - overlapMs;

/** The same in ISO 8601 without fractions of a second, which some APIs refuse. */
export const nextSinceIso = (): string =>
  `${new Date(nextSince()).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
