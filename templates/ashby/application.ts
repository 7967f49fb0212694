import { z } from 'zod';
import type { Application } from '../models/recruiting.js';

/** An application as Ashby returns it. A lead is a person who has not applied yet. */
export const AshbyApplication = z.object({
  id: z.string(),
  status: z.enum(['Active', 'Lead', 'Hired', 'Archived']),
  candidate: z.object({ id: z.string() }),
  job: z.object({ id: z.string() }).nullish(),
  currentInterviewStage: z.object({ title: z.string() }).nullish(),
  source: z.object({ title: z.string() }).nullish(),
  archiveReason: z.object({ reasonType: z.string().nullish() }).nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type AshbyApplication = z.infer<typeof AshbyApplication>;

export const applicationOf = (application: AshbyApplication): Application => ({
  id: application.id,
  candidate_id: application.candidate.id,
  job_id: application.job?.id ?? null,
  stage: application.currentInterviewStage?.title ?? null,
  status: statusOf(application),
  source: application.source?.title ?? null,
  applied_at: application.createdAt ?? null,
  rejected_at: null,
  updated_at: application.updatedAt ?? null,
});

function statusOf({ status, archiveReason }: AshbyApplication): Application['status'] {
  if (status === 'Hired') return 'hired';
  if (status !== 'Archived') return 'active';
  return archiveReason?.reasonType === 'RejectedByCandidate' ? 'withdrawn' : 'rejected';
}
