import { z } from 'zod';
import type { Candidate } from '../models/recruiting.js';

const typedValue = z.object({ value: z.string().nullish(), type: z.string().nullish() });

/** A candidate as Harvest v3 returns it. */
export const GreenhouseCandidate = z.object({
  id: z.number(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  company: z.string().nullish(),
  title: z.string().nullish(),
  email_addresses: z.array(typedValue).nullish(),
  phone_numbers: z.array(typedValue).nullish(),
  tags: z.array(z.string()).nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type GreenhouseCandidate = z.infer<typeof GreenhouseCandidate>;

/** Harvest v3 has the applications of a candidate in their own list. */
export const candidateOf = (candidate: GreenhouseCandidate): Candidate => ({
  id: String(candidate.id),
  first_name: candidate.first_name ?? null,
  last_name: candidate.last_name ?? null,
  emails: valuesOf(candidate.email_addresses),
  phones: valuesOf(candidate.phone_numbers),
  company: candidate.company ?? null,
  title: candidate.title ?? null,
  tags: candidate.tags ?? [],
  application_ids: [],
  created_at: candidate.created_at ?? null,
  updated_at: candidate.updated_at ?? null,
});

const valuesOf = (values: GreenhouseCandidate['email_addresses']): string[] =>
  (values ?? []).flatMap(({ value }) => value ?? []);
