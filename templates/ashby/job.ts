import { z } from 'zod';
import { Job as CommonJob } from '../models/recruiting.js';

/** Without them the list leaves drafts out. */
export const jobStatuses = ['Draft', 'Open', 'Closed', 'Archived'] as const;

/** A job as Ashby returns it. */
export const AshbyJob = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(jobStatuses),
  departmentId: z.string().nullish(),
  locationId: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type AshbyJob = z.infer<typeof AshbyJob>;

/** Ashby has departments and locations in their own lists. */
export const Job = CommonJob.extend({
  department_id: z.string().nullable(),
  location_id: z.string().nullable(),
});

const statuses = { Draft: 'draft', Open: 'open', Closed: 'closed', Archived: 'closed' } as const;

export const jobOf = (job: AshbyJob): z.infer<typeof Job> => ({
  id: job.id,
  title: job.title,
  status: statuses[job.status],
  department: null,
  location: null,
  url: null,
  created_at: job.createdAt ?? null,
  updated_at: job.updatedAt ?? null,
  department_id: job.departmentId ?? null,
  location_id: job.locationId ?? null,
});
