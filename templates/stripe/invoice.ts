import { z } from 'zod';
import { Invoice } from '../models/accounting.js';
import { isoOf, unitsOf } from './lists.js';

/** An invoice without its lines, of which the list holds the first ones alone. */
export const InvoiceSummary = Invoice.omit({ lines: true });
export type InvoiceSummary = z.infer<typeof InvoiceSummary>;

/** An invoice as Stripe returns it. Amounts are in the smallest unit of the currency. */
export const StripeInvoice = z.object({
  id: z.string(),
  /** Null until it is finalized. */
  number: z.string().nullable(),
  status: z.enum(['draft', 'open', 'paid', 'uncollectible', 'void']).nullable(),
  customer: z.string().nullable(),
  currency: z.string(),
  total: z.number(),
  total_excluding_tax: z.number().nullable(),
  amount_remaining: z.number(),
  created: z.number(),
  /** What the invoice shows as its date of issue; null until it is finalized. */
  effective_at: z.number().nullish(),
  due_date: z.number().nullable(),
});
export type StripeInvoice = z.infer<typeof StripeInvoice>;

export function invoiceOf(invoice: StripeInvoice): InvoiceSummary {
  const { status, currency, total, total_excluding_tax: untaxed } = invoice;
  return {
    id: invoice.id,
    number: invoice.number,
    type: 'receivable',
    status: status === 'uncollectible' ? 'open' : (status ?? 'draft'),
    contact_id: invoice.customer,
    currency: currency.toUpperCase(),
    total: unitsOf(total, currency),
    tax: untaxed === null ? null : unitsOf(total - untaxed, currency),
    // Nobody owes a void one, of which Stripe keeps the amount.
    balance: status === 'void' ? 0 : unitsOf(invoice.amount_remaining, currency),
    issue_date: dayOf(invoice.effective_at ?? invoice.created),
    due_date: invoice.due_date === null ? null : dayOf(invoice.due_date),
    updated_at: null,
  };
}

const dayOf = (seconds: number): string => isoOf(seconds).slice(0, 'YYYY-MM-DD'.length);
