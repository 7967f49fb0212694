import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import { namePartsOf } from '../shared/names.js';

/** A customer as Gorgias lists it. */
export const GorgiasCustomer = z.object({
  id: z.number(),
  name: z.string().nullish(),
  firstname: z.string().nullish(),
  lastname: z.string().nullish(),
  email: z.string().nullish(),
  created_datetime: z.string().nullish(),
  updated_datetime: z.string().nullish(),
});
export type GorgiasCustomer = z.infer<typeof GorgiasCustomer>;

export const contactOf = (customer: GorgiasCustomer): Contact => {
  const parts = namePartsOf(customer.name);
  return {
    id: String(customer.id),
    first_name: customer.firstname || parts.first_name,
    last_name: customer.lastname || parts.last_name,
    emails: customer.email ? [customer.email] : [],
    phones: [],
    company_id: null,
    job_title: null,
    owner_id: null,
    created_at: customer.created_datetime ?? null,
    updated_at: customer.updated_datetime ?? null,
  };
};
