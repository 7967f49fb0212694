/** The value of a `datetime-local` field as an instant of the API; undefined unless it is a local date and time. */
export const instantOf = (text: string): string | undefined =>
  Number.isNaN(new Date(text).getTime()) ? undefined : new Date(text).toISOString();

/** The value of a `datetime-local` field, to the second. */
export const localTimeOf = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 'yyyy-mm-ddThh:mm:ss'.length);

export const dayMs = 86_400_000;

/** A day ago as the value of a `datetime-local` field, to the minute. */
export const localDayAgo = (): string =>
  localTimeOf(new Date(new Date().getTime() - dayMs)).slice(0, 'yyyy-mm-ddThh:mm'.length);
