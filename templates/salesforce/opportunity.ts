import { z } from 'zod';
import type { Deal } from '../models/crm.js';
import { isoOf } from './query.js';

/** An opportunity as Salesforce returns it, with the fields that `opportunityFields` asks for. */
export const SalesforceOpportunity = z.object({
  Id: z.string(),
  Name: z.string(),
  Amount: z.number().nullish(),
  StageName: z.string().nullish(),
  IsClosed: z.boolean(),
  IsWon: z.boolean(),
  AccountId: z.string().nullish(),
  OwnerId: z.string().nullish(),
  /** Date */
  CloseDate: z.string().nullish(),
  CreatedDate: z.string(),
  SystemModstamp: z.string(),
  IsDeleted: z.boolean(),
});
export type SalesforceOpportunity = z.infer<typeof SalesforceOpportunity>;

export const opportunityFields = Object.keys(SalesforceOpportunity.shape);

export const dealOf = (opportunity: SalesforceOpportunity): Deal => ({
  id: opportunity.Id,
  name: opportunity.Name,
  amount: opportunity.Amount ?? null,
  // Organizations with one currency have no field for it.
  currency: null,
  stage: opportunity.StageName ?? null,
  status: statusOf(opportunity),
  company_id: opportunity.AccountId ?? null,
  contact_ids: [],
  owner_id: opportunity.OwnerId ?? null,
  close_date: opportunity.CloseDate ?? null,
  created_at: isoOf(opportunity.CreatedDate),
  updated_at: isoOf(opportunity.SystemModstamp),
});

function statusOf({ IsClosed: isClosed, IsWon: isWon }: SalesforceOpportunity): Deal['status'] {
  if (isWon) return 'won';
  return isClosed ? 'lost' : 'open';
}
