import { z } from 'zod';
import type { Customer } from '../models/commerce.js';

/** A customer profile as Square returns it: fields without a value are left out. */
export const SquareCustomer = z.object({
  id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  given_name: z.string().optional(),
  family_name: z.string().optional(),
  company_name: z.string().optional(),
  email_address: z.string().optional(),
  phone_number: z.string().optional(),
});
export type SquareCustomer = z.infer<typeof SquareCustomer>;

export const customerOf = (customer: SquareCustomer): Customer => ({
  id: customer.id,
  name:
    [customer.given_name, customer.family_name].filter(Boolean).join(' ') ||
    customer.company_name ||
    null,
  email: customer.email_address ?? null,
  phone: customer.phone_number ?? null,
  created_at: customer.created_at,
  updated_at: customer.updated_at,
});
