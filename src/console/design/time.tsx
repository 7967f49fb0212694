import type { JSX } from 'preact';

/** A time relative to now, with the exact one on hover; a dash without one. */
export function Time({ at }: { readonly at: string | null | undefined }): JSX.Element {
  if (at === null || at === undefined) return <span class="muted">–</span>;
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return <span>{at}</span>;
  return (
    <time class="number" dateTime={then.toISOString()} title={exact(then)}>
      {relative(then, new Date())}
    </time>
  );
}

export const exact = (at: Date): string =>
  `${at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })} (${at.toISOString()})`;

const units = [
  ['s', 60],
  ['min', 60],
  ['h', 24],
  ['d', 365],
  ['y', Infinity],
] as const;

function relative(then: Date, now: Date): string {
  const milliseconds = then.getTime() - now.getTime();
  let amount = Math.abs(milliseconds) / 1000;
  if (amount < 5) return 'now';
  for (const [unit, size] of units) {
    if (amount < size) {
      const text = `${Math.floor(amount)} ${unit}`;
      return milliseconds < 0 ? `${text} ago` : `in ${text}`;
    }
    amount /= size;
  }
  return '';
}

/** `840 ms`, `12.4 s`, `3 min 20 s`; a dash without one. */
export function duration(milliseconds: number | null | undefined): string {
  if (milliseconds === null || milliseconds === undefined) return '–';
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
