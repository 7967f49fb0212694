import { z } from 'zod';
import type { Order } from '../models/commerce.js';
import { utcOf } from './lists.js';

/** An order as WooCommerce returns it. */
export const WoocommerceOrder = z.object({
  id: z.number(),
  number: z.string(),
  status: z.string(),
  currency: z.string(),
  total: z.string(),
  total_tax: z.string(),
  shipping_total: z.string(),
  /** 0 for guests. */
  customer_id: z.number(),
  billing: z.object({ email: z.string().nullish() }),
  date_created_gmt: z.string().nullable(),
  date_modified_gmt: z.string().nullable(),
  date_paid_gmt: z.string().nullable(),
  line_items: z.array(
    z.object({
      product_id: z.number(),
      sku: z.string().nullish(),
      name: z.string(),
      quantity: z.number(),
      price: z.union([z.number(), z.string()]),
    }),
  ),
  refunds: z.array(z.object({ id: z.number() })),
});
export type WoocommerceOrder = z.infer<typeof WoocommerceOrder>;

export const orderOf = (order: WoocommerceOrder): Order => ({
  id: String(order.id),
  number: order.number,
  status: statusOf(order),
  payment_status: paymentStatusOf(order),
  customer_id: order.customer_id === 0 ? null : String(order.customer_id),
  email: order.billing.email || null,
  currency: order.currency,
  total: Number(order.total),
  tax: Number(order.total_tax),
  shipping: Number(order.shipping_total),
  items: order.line_items.map((item) => ({
    product_id: item.product_id === 0 ? null : String(item.product_id),
    sku: item.sku || null,
    name: item.name,
    quantity: item.quantity,
    unit_price: Number(item.price),
  })),
  created_at: utcOf(order.date_created_gmt),
  updated_at: utcOf(order.date_modified_gmt),
});

/** Shops may have statuses of their own: they are open. */
function statusOf({ status }: WoocommerceOrder): Order['status'] {
  if (status === 'completed' || status === 'refunded') return 'completed';
  return ['cancelled', 'failed', 'trash'].includes(status) ? 'cancelled' : 'open';
}

function paymentStatusOf(order: WoocommerceOrder): Order['payment_status'] {
  if (order.status === 'refunded') return 'refunded';
  if (order.status === 'failed') return 'failed';
  if (order.refunds.length > 0) return 'partially_refunded';
  return order.date_paid_gmt === null ? 'pending' : 'paid';
}
