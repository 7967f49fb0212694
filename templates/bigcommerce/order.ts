import { z } from 'zod';
import { Order } from '../models/commerce.js';

/** An order without its items, which the API lists one order at a time. */
export const OrderSummary = Order.omit({ items: true });
export type OrderSummary = z.infer<typeof OrderSummary>;

/** An order as BigCommerce returns it. Times are those of mail (RFC 2822), amounts are text. */
export const BigcommerceOrder = z.object({
  id: z.number(),
  status_id: z.number(),
  payment_status: z.string(),
  /** 0 for guests. */
  customer_id: z.number(),
  billing_address: z.object({ email: z.string().nullish() }),
  default_currency_code: z.string(),
  total_inc_tax: z.string(),
  total_tax: z.string(),
  shipping_cost_inc_tax: z.string(),
  date_created: z.string(),
  date_modified: z.string(),
});
export type BigcommerceOrder = z.infer<typeof BigcommerceOrder>;

export const orderOf = (order: BigcommerceOrder): OrderSummary => ({
  id: String(order.id),
  number: String(order.id),
  status: statusOf(order.status_id),
  payment_status: paymentStatusOf(order),
  customer_id: order.customer_id === 0 ? null : String(order.customer_id),
  email: order.billing_address.email || null,
  currency: order.default_currency_code,
  total: Number(order.total_inc_tax),
  tax: Number(order.total_tax),
  shipping: Number(order.shipping_cost_inc_tax),
  created_at: isoOf(order.date_created),
  updated_at: isoOf(order.date_modified),
});

/** Statuses of orders: 2 shipped, 4 refunded, 10 completed; 5 cancelled, 6 declined. */
function statusOf(id: number): Order['status'] {
  if ([2, 4, 10].includes(id)) return 'completed';
  return id === 5 || id === 6 ? 'cancelled' : 'open';
}

const paymentStatuses: Readonly<Record<string, Order['payment_status']>> = {
  pending: 'pending',
  authorized: 'pending',
  'capture pending': 'pending',
  'held for review': 'pending',
  captured: 'paid',
  paid: 'paid',
  'partially refunded': 'partially_refunded',
  refunded: 'refunded',
  declined: 'failed',
};

function paymentStatusOf({ status_id: id, payment_status: status }: BigcommerceOrder) {
  // 4: refunded, 6: declined, 14: partially refunded.
  if (id === 4) return 'refunded';
  if (id === 14) return 'partially_refunded';
  return id === 6 ? 'failed' : (paymentStatuses[status] ?? null);
}

const isoOf = (time: string): string | null => (time ? new Date(time).toISOString() : null);
