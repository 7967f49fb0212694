import { z } from 'zod';
import type { Deal } from '../models/crm.js';

/** A deal as Pipedrive returns it. */
export const PipedriveDeal = z.object({
  id: z.number(),
  title: z.string(),
  value: z.number().nullish(),
  currency: z.string().nullish(),
  stage_id: z.number().nullish(),
  status: z.enum(['open', 'won', 'lost', 'deleted']),
  org_id: z.number().nullish(),
  person_id: z.number().nullish(),
  owner_id: z.number().nullish(),
  expected_close_date: z.string().nullish(),
  add_time: z.string().nullish(),
  update_time: z.string().nullish(),
});
export type PipedriveDeal = z.infer<typeof PipedriveDeal>;

export const dealOf = (deal: PipedriveDeal): Deal => ({
  id: String(deal.id),
  name: deal.title,
  amount: deal.value ?? null,
  currency: deal.currency ?? null,
  stage: idText(deal.stage_id),
  status: deal.status === 'deleted' ? null : deal.status,
  company_id: idText(deal.org_id),
  contact_ids: typeof deal.person_id === 'number' ? [String(deal.person_id)] : [],
  owner_id: idText(deal.owner_id),
  close_date: deal.expected_close_date ?? null,
  created_at: deal.add_time ?? null,
  updated_at: deal.update_time ?? null,
});

const idText = (id: number | null | undefined): string | null =>
  id === null || id === undefined ? null : String(id);
