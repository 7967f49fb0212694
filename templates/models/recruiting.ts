import { z } from 'zod';

/** Common models of applicant tracking systems. */

export const Candidate = z.object({
  id: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  emails: z.array(z.string()),
  phones: z.array(z.string()),
  company: z.string().nullable(),
  title: z.string().nullable(),
  tags: z.array(z.string()),
  application_ids: z.array(z.string()),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Candidate = z.infer<typeof Candidate>;

export const Application = z.object({
  id: z.string(),
  candidate_id: z.string(),
  job_id: z.string().nullable(),
  stage: z.string().nullable(),
  status: z.enum(['active', 'hired', 'rejected', 'withdrawn']),
  source: z.string().nullable(),
  applied_at: z.string().nullable(),
  rejected_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Application = z.infer<typeof Application>;

export const Job = z.object({
  id: z.string(),
  title: z.string(),
  status: z.enum(['open', 'closed', 'draft']),
  department: z.string().nullable(),
  location: z.string().nullable(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Job = z.infer<typeof Job>;
