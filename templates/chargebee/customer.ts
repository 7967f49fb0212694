import { z } from 'zod';
import type { Customer } from '../models/commerce.js';
import { isoOf } from './lists.js';

/** A customer as Chargebee returns it: fields without a value are left out. */
export const ChargebeeCustomer = z.object({
  id: z.string(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  company: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  created_at: z.number(),
  updated_at: z.number().optional(),
  deleted: z.boolean(),
});
export type ChargebeeCustomer = z.infer<typeof ChargebeeCustomer>;

export const customerOf = (customer: ChargebeeCustomer): Customer => ({
  id: customer.id,
  name:
    [customer.first_name, customer.last_name].filter(Boolean).join(' ') || customer.company || null,
  email: customer.email ?? null,
  phone: customer.phone ?? null,
  created_at: isoOf(customer.created_at),
  updated_at: isoOf(customer.updated_at),
});
