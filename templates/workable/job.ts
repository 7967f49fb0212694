import { z } from 'zod';
import type { Job } from '../models/recruiting.js';

/** A job as Workable lists it. */
export const WorkableJob = z.object({
  shortcode: z.string(),
  title: z.string(),
  state: z.enum(['draft', 'published', 'closed', 'archived']),
  department: z.string().nullish(),
  location: z.object({ location_str: z.string().nullish() }).nullish(),
  url: z.string().nullish(),
  created_at: z.string().nullish(),
});
export type WorkableJob = z.infer<typeof WorkableJob>;

const statuses = {
  draft: 'draft',
  published: 'open',
  closed: 'closed',
  archived: 'closed',
} as const;

/** The id is the shortcode, by which candidates name their job. */
export const jobOf = (job: WorkableJob): Job => ({
  id: job.shortcode,
  title: job.title,
  status: statuses[job.state],
  department: job.department ?? null,
  location: job.location?.location_str ?? null,
  url: job.url ?? null,
  created_at: job.created_at ?? null,
  updated_at: null,
});
