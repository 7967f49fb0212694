import { createHash } from 'node:crypto';
import type { valueParts } from './schema-parts.ts';

type ValuePart = (typeof valueParts)[number];

/** The part of the value, or the whole one; null where it has no such part. */
export function partOf(value: string, part: ValuePart | undefined): string | null {
  if (part === undefined) return value;
  if (part === 'first-label') return value.split('.', 1)[0] ?? null;
  if (part === 'sha256') return sha256(value);
  if (part !== 'origin') {
    const calendar = calendarIn(value);
    return calendar === null || part === 'calendar' ? calendar : sha256(calendar);
  }
  return URL.canParse(value) ? new URL(value).origin : null;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The id in `…/calendars/<id>/…`: the e-mail address of the owner of the calendar. */
function calendarIn(address: string): string | null {
  const id = /\/calendars\/([^/?#]+)/.exec(address)?.[1];
  if (id === undefined) return null;
  try {
    return decodeURIComponent(id);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
