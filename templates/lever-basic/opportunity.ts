import { z } from 'zod';
import { Application as CommonApplication } from '../models/recruiting.js';

/** An opportunity as Lever returns it with `expand=applications`. Times are milliseconds since the epoch. */
export const LeverOpportunity = z.object({
  id: z.string(),
  name: z.string().nullish(),
  /** The person: one contact has an opportunity for each time that they are considered. */
  contact: z.string(),
  headline: z.string().nullish(),
  emails: z.array(z.string()).nullish(),
  phones: z.array(z.object({ value: z.string().nullish() })).nullish(),
  tags: z.array(z.string()).nullish(),
  sources: z.array(z.string()).nullish(),
  stage: z.string().nullish(),
  archived: z.object({ reason: z.string().nullish(), archivedAt: z.number().nullish() }).nullish(),
  applications: z.array(z.object({ posting: z.string().nullish() })).nullish(),
  urls: z.object({ show: z.string().nullish() }).nullish(),
  createdAt: z.number().nullish(),
  updatedAt: z.number().nullish(),
});
export type LeverOpportunity = z.infer<typeof LeverOpportunity>;

/** With the contact of the person, which Lever returns in each opportunity. */
export const Application = CommonApplication.extend({
  name: z.string().nullable(),
  headline: z.string().nullable(),
  emails: z.array(z.string()),
  phones: z.array(z.string()),
  tags: z.array(z.string()),
  url: z.string().nullable(),
});
export type Application = z.infer<typeof Application>;

/** @param hiredReasons ids of the archive reasons of hired candidates */
export function applicationOf(
  opportunity: LeverOpportunity,
  hiredReasons: ReadonlySet<string>,
): Application {
  const { archived } = opportunity;
  const isHired = hiredReasons.has(archived?.reason ?? '');
  const status = archived ? (isHired ? 'hired' : 'rejected') : 'active';
  return {
    id: opportunity.id,
    candidate_id: opportunity.contact,
    job_id: opportunity.applications?.find(({ posting }) => posting)?.posting ?? null,
    stage: opportunity.stage ?? null,
    status,
    source: opportunity.sources?.[0] ?? null,
    applied_at: timeOf(opportunity.createdAt),
    rejected_at: status === 'rejected' ? timeOf(archived?.archivedAt) : null,
    updated_at: timeOf(opportunity.updatedAt),
    name: opportunity.name ?? null,
    headline: opportunity.headline ?? null,
    emails: opportunity.emails ?? [],
    phones: (opportunity.phones ?? []).flatMap(({ value }) => value ?? []),
    tags: opportunity.tags ?? [],
    url: opportunity.urls?.show ?? null,
  };
}

const timeOf = (time: number | null | undefined): string | null =>
  typeof time === 'number' ? new Date(time).toISOString() : null;
