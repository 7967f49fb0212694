import { z } from 'zod';
import type { Application } from '../models/recruiting.js';

/** An application as Harvest v3 returns it. */
export const GreenhouseApplication = z.object({
  id: z.number(),
  candidate_id: z.number(),
  job_id: z.number().nullish(),
  stage_name: z.string().nullish(),
  status: z.enum(['in_process', 'rejected', 'hired', 'converted']),
  source_id: z.number().nullish(),
  created_at: z.string().nullish(),
  rejected_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type GreenhouseApplication = z.infer<typeof GreenhouseApplication>;

const statuses = {
  in_process: 'active',
  rejected: 'rejected',
  hired: 'hired',
  // A prospect that became a candidate: another application goes on in its place.
  converted: 'withdrawn',
} as const;

/** `source` is the id of the source. */
export const applicationOf = (application: GreenhouseApplication): Application => ({
  id: String(application.id),
  candidate_id: String(application.candidate_id),
  job_id: textOf(application.job_id),
  stage: application.stage_name ?? null,
  status: statuses[application.status],
  source: textOf(application.source_id),
  applied_at: application.created_at ?? null,
  rejected_at: application.rejected_at ?? null,
  updated_at: application.updated_at ?? null,
});

const textOf = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);
