import { z } from 'zod';

/** Common models of shops and payments. Amounts are in the units of the currency, not in cents. */

export const Order = z.object({
  id: z.string(),
  number: z.string().nullable(),
  status: z.enum(['open', 'completed', 'cancelled']),
  payment_status: z
    .enum(['pending', 'paid', 'refunded', 'partially_refunded', 'failed'])
    .nullable(),
  customer_id: z.string().nullable(),
  email: z.string().nullable(),
  /** ISO 4217. */
  currency: z.string(),
  total: z.number(),
  tax: z.number().nullable(),
  shipping: z.number().nullable(),
  items: z.array(
    z.object({
      product_id: z.string().nullable(),
      sku: z.string().nullable(),
      name: z.string(),
      quantity: z.number(),
      unit_price: z.number().nullable(),
    }),
  ),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Order = z.infer<typeof Order>;

export const Product = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.enum(['active', 'draft', 'archived']),
  sku: z.string().nullable(),
  price: z.number().nullable(),
  currency: z.string().nullable(),
  url: z.string().nullable(),
  tags: z.array(z.string()),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Product = z.infer<typeof Product>;

export const Customer = z.object({
  id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type Customer = z.infer<typeof Customer>;

/** A payment of a customer: charge, transaction, payment intent. */
export const Payment = z.object({
  id: z.string(),
  status: z.enum(['pending', 'succeeded', 'failed', 'cancelled']),
  amount: z.number(),
  refunded: z.number().nullable(),
  currency: z.string(),
  customer_id: z.string().nullable(),
  order_id: z.string().nullable(),
  description: z.string().nullable(),
  created_at: z.string().nullable(),
});
export type Payment = z.infer<typeof Payment>;
