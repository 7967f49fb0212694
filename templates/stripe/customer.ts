import { z } from 'zod';
import type { Customer } from '../models/commerce.js';
import { isoOf } from './lists.js';

/** A customer as Stripe returns it. */
export const StripeCustomer = z.object({
  id: z.string(),
  name: z.string().nullish(),
  email: z.string().nullable(),
  phone: z.string().nullish(),
  created: z.number(),
});
export type StripeCustomer = z.infer<typeof StripeCustomer>;

export const customerOf = (customer: StripeCustomer): Customer => ({
  id: customer.id,
  name: customer.name ?? null,
  email: customer.email,
  phone: customer.phone ?? null,
  created_at: isoOf(customer.created),
  updated_at: null,
});
