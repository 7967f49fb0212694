import { z } from 'zod';
import type { Job } from '../models/recruiting.js';

/** A posting as Lever returns it. Times are milliseconds since the epoch. */
export const LeverPosting = z.object({
  id: z.string(),
  text: z.string(),
  state: z.string(),
  categories: z
    .object({ department: z.string().nullish(), location: z.string().nullish() })
    .nullish(),
  urls: z.object({ show: z.string().nullish() }).nullish(),
  createdAt: z.number().nullish(),
  updatedAt: z.number().nullish(),
});
export type LeverPosting = z.infer<typeof LeverPosting>;

export const jobOf = (posting: LeverPosting): Job => ({
  id: posting.id,
  title: posting.text,
  status: statusOf(posting.state),
  department: posting.categories?.department ?? null,
  location: posting.categories?.location ?? null,
  url: posting.urls?.show ?? null,
  created_at: timeOf(posting.createdAt),
  updated_at: timeOf(posting.updatedAt),
});

function statusOf(state: string): Job['status'] {
  // An internal posting is open, but not on the public site.
  if (state === 'published' || state === 'internal') return 'open';
  return state === 'draft' || state === 'pending' ? 'draft' : 'closed';
}

const timeOf = (time: number | null | undefined): string | null =>
  typeof time === 'number' ? new Date(time).toISOString() : null;
