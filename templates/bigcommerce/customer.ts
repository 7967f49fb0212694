import { z } from 'zod';
import type { Customer } from '../models/commerce.js';

/** A customer as BigCommerce returns it. */
export const BigcommerceCustomer = z.object({
  id: z.number(),
  email: z.string(),
  first_name: z.string(),
  last_name: z.string(),
  phone: z.string().nullish(),
  date_created: z.string(),
  date_modified: z.string(),
});
export type BigcommerceCustomer = z.infer<typeof BigcommerceCustomer>;

export const customerOf = (customer: BigcommerceCustomer): Customer => ({
  id: String(customer.id),
  name: `${customer.first_name} ${customer.last_name}`.trim() || null,
  email: customer.email || null,
  phone: customer.phone || null,
  created_at: customer.date_created,
  updated_at: customer.date_modified,
});
