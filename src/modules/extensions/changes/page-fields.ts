import { z } from 'zod';
import { text, wholeNumber } from '#http/fields.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { limits } from '#kernel/limits.ts';
import type { ChangesPage } from './page.ts';
import type { FeedStart } from './position.ts';
import { changeShape } from './presenter.ts';

/** Each reads the log. */
export const feedSlots = new EnvironmentSlots({
  total: limits.changeFeedsMax,
  perEnvironment: limits.environmentChangeFeedsMax,
  code: 'too_many_request',
  noun: 'readers of changes',
});

export const cursorField = text(1, limits.changeCursorCharsMax);

export const fromField = z.union([z.enum(['start', 'end']), z.iso.datetime({ offset: true })]);

export const feedStart = (from: z.output<typeof fromField>): FeedStart =>
  from === 'start' || from === 'end' ? from : { since: Date.parse(from) };

/** How much a page may have, and how long it may take. */
export const pageFields = {
  limit: wholeNumber(1, limits.changesPageSizeMax).default(limits.changesPageSizeDefault),
  wait_s: wholeNumber(0, limits.changesWaitS)
    .default(0)
    .describe('How many seconds the response may wait for a change where there is none.'),
};

export const pageShape = z.strictObject({
  changes: z
    .array(changeShape)
    .describe('In the order of each record; between records there is none.'),
  cursor: z.string().describe('Position after the changes; also where there is none.'),
  has_more: z.boolean().describe('Whether the log had more at the time of the request.'),
});

/** The response of a page. */
export function pageBytes({ changes, hasMore }: ChangesPage, cursor: string): Buffer {
  const rest = JSON.stringify({ cursor, has_more: hasMore });
  return Buffer.from(`{"changes":[${changes.join(',')}],${rest.slice(1)}`);
}
