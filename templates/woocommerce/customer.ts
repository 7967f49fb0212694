import { z } from 'zod';
import type { Customer } from '../models/commerce.js';
import { utcOf } from './lists.js';

/** A customer as WooCommerce returns it. */
export const WoocommerceCustomer = z.object({
  id: z.number(),
  email: z.string(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  billing: z.object({ phone: z.string().nullish() }),
  date_created_gmt: z.string().nullable(),
  date_modified_gmt: z.string().nullable(),
});
export type WoocommerceCustomer = z.infer<typeof WoocommerceCustomer>;

export const customerOf = (customer: WoocommerceCustomer): Customer => ({
  id: String(customer.id),
  name: [customer.first_name, customer.last_name].filter(Boolean).join(' ') || null,
  email: customer.email || null,
  phone: customer.billing.phone || null,
  created_at: utcOf(customer.date_created_gmt),
  updated_at: utcOf(customer.date_modified_gmt),
});
