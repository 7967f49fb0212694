import { z } from 'zod';
import type { Payment } from '../models/commerce.js';
import { isoOf, unitsOf } from './lists.js';

/** A charge as Stripe returns it. Amounts are in the smallest unit of the currency. */
export const StripeCharge = z.object({
  id: z.string(),
  status: z.enum(['succeeded', 'pending', 'failed']),
  amount: z.number(),
  amount_refunded: z.number(),
  currency: z.string(),
  customer: z.string().nullable(),
  description: z.string().nullable(),
  created: z.number(),
});
export type StripeCharge = z.infer<typeof StripeCharge>;

export const paymentOf = (charge: StripeCharge): Payment => ({
  id: charge.id,
  status: charge.status,
  amount: unitsOf(charge.amount, charge.currency),
  refunded: unitsOf(charge.amount_refunded, charge.currency),
  currency: charge.currency.toUpperCase(),
  customer_id: charge.customer,
  order_id: null,
  description: charge.description,
  created_at: isoOf(charge.created),
});
