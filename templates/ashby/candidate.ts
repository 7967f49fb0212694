import { z } from 'zod';
import { Candidate as CommonCandidate } from '../models/recruiting.js';

const contactValue = z.object({ value: z.string() });

/** A candidate as Ashby returns it. */
export const AshbyCandidate = z.object({
  id: z.string(),
  name: z.string(),
  primaryEmailAddress: contactValue.nullish(),
  emailAddresses: z.array(contactValue).nullish(),
  primaryPhoneNumber: contactValue.nullish(),
  phoneNumbers: z.array(contactValue).nullish(),
  tags: z.array(z.object({ id: z.string(), title: z.string() })).nullish(),
  applicationIds: z.array(z.string()).nullish(),
  profileUrl: z.string().nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
});
export type AshbyCandidate = z.infer<typeof AshbyCandidate>;

/** Ashby has one name for a person. */
export const Candidate = CommonCandidate.extend({ name: z.string(), url: z.string().nullable() });

export const candidateOf = (candidate: AshbyCandidate): z.infer<typeof Candidate> => ({
  id: candidate.id,
  name: candidate.name,
  first_name: null,
  last_name: null,
  emails: valuesOf(candidate.primaryEmailAddress, candidate.emailAddresses),
  phones: valuesOf(candidate.primaryPhoneNumber, candidate.phoneNumbers),
  company: null,
  title: null,
  tags: (candidate.tags ?? []).map(({ title }) => title),
  application_ids: candidate.applicationIds ?? [],
  url: candidate.profileUrl ?? null,
  created_at: candidate.createdAt ?? null,
  updated_at: candidate.updatedAt ?? null,
});

/** The primary one first. */
const valuesOf = (
  primary: AshbyCandidate['primaryEmailAddress'],
  all: AshbyCandidate['emailAddresses'],
): string[] => [...new Set([primary, ...(all ?? [])].flatMap((one) => (one ? [one.value] : [])))];
