import { z } from 'zod';
import { Job as CommonJob } from '../models/recruiting.js';

/** A job as Harvest v3 returns it. */
export const GreenhouseJob = z.object({
  id: z.number(),
  name: z.string().nullish(),
  status: z.enum(['open', 'closed', 'draft']),
  requisition_id: z.string().nullish(),
  department_id: z.number().nullish(),
  office_ids: z.array(z.number()).nullish(),
  /** Not a job, but what jobs are copied from. */
  is_template: z.boolean().nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type GreenhouseJob = z.infer<typeof GreenhouseJob>;

/** Harvest v3 has departments and offices in their own lists. */
export const Job = CommonJob.extend({
  requisition_id: z.string().nullable(),
  department_id: z.string().nullable(),
  office_ids: z.array(z.string()),
});

export const isJob = ({ is_template: isTemplate }: GreenhouseJob): boolean => isTemplate !== true;

export const jobOf = (job: GreenhouseJob): z.infer<typeof Job> => ({
  id: String(job.id),
  title: job.name ?? '',
  status: job.status,
  department: null,
  location: null,
  url: null,
  created_at: job.created_at ?? null,
  updated_at: job.updated_at ?? null,
  requisition_id: job.requisition_id ?? null,
  department_id: typeof job.department_id === 'number' ? String(job.department_id) : null,
  office_ids: (job.office_ids ?? []).map(String),
});
