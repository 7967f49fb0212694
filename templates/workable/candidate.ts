import { z } from 'zod';
import { Candidate as CommonCandidate } from '../models/recruiting.js';

/** A candidate as Workable lists it: a person who is considered for one job. */
export const WorkableCandidate = z.object({
  id: z.string(),
  firstname: z.string().nullish(),
  lastname: z.string().nullish(),
  headline: z.string().nullish(),
  email: z.string().nullish(),
  job: z.object({ shortcode: z.string() }).nullish(),
  stage: z.string().nullish(),
  disqualified: z.boolean().nullish(),
  profile_url: z.string().nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type WorkableCandidate = z.infer<typeof WorkableCandidate>;

export const Candidate = CommonCandidate.extend({
  /** Shortcode of the job. */
  job_id: z.string().nullable(),
  stage: z.string().nullable(),
  is_disqualified: z.boolean(),
  url: z.string().nullable(),
});

/** Phones and tags are in the single candidate alone. */
export const candidateOf = (candidate: WorkableCandidate): z.infer<typeof Candidate> => ({
  id: candidate.id,
  first_name: candidate.firstname ?? null,
  last_name: candidate.lastname ?? null,
  emails: candidate.email ? [candidate.email] : [],
  phones: [],
  company: null,
  title: candidate.headline ?? null,
  tags: [],
  application_ids: [],
  created_at: candidate.created_at ?? null,
  updated_at: candidate.updated_at ?? null,
  job_id: candidate.job?.shortcode ?? null,
  stage: candidate.stage ?? null,
  is_disqualified: candidate.disqualified ?? false,
  url: candidate.profile_url ?? null,
});
