/** The value of a `datetime-local` field as an instant of the API; undefined unless it is a local date and time. */
export const instantOf = (text: string): string | undefined =>
  Number.isNaN(new Date(text).getTime()) ? undefined : new Date(text).toISOString();

const dayMs = 86_400_000;

/** A day ago as the value of a `datetime-local` field, to the minute. */
export function localDayAgo(): string {
  const then = new Date(new Date().getTime() - dayMs);
  const offsetMs = then.getTimezoneOffset() * 60_000;
  return new Date(then.getTime() - offsetMs).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
}
