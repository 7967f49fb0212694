import { z } from 'zod';
import type { Invoice } from '../models/accounting.js';
import { unitsOf } from '../shared/money.js';
import { isoOf } from './lists.js';

/** An invoice as Chargebee returns it: fields without a value are left out. Amounts are in cents. */
export const ChargebeeInvoice = z.object({
  id: z.string(),
  customer_id: z.string(),
  status: z.enum(['paid', 'posted', 'payment_due', 'not_paid', 'voided', 'pending']),
  currency_code: z.string(),
  total: z.number().optional(),
  tax: z.number(),
  amount_due: z.number().optional(),
  date: z.number().optional(),
  due_date: z.number().optional(),
  updated_at: z.number().optional(),
  deleted: z.boolean(),
  line_items: z
    .array(
      z.object({
        description: z.string(),
        quantity: z.number().optional(),
        unit_amount: z.number(),
        amount: z.number().optional(),
      }),
    )
    .optional(),
});
export type ChargebeeInvoice = z.infer<typeof ChargebeeInvoice>;

const statuses = {
  pending: 'draft',
  posted: 'open',
  payment_due: 'open',
  not_paid: 'open',
  paid: 'paid',
  voided: 'void',
} as const;

export function invoiceOf(invoice: ChargebeeInvoice): Invoice {
  const units = (cents: number | undefined): number | null =>
    cents === undefined ? null : unitsOf(cents, invoice.currency_code);
  return {
    id: invoice.id,
    number: invoice.id,
    type: 'receivable',
    status: statuses[invoice.status],
    contact_id: invoice.customer_id,
    currency: invoice.currency_code,
    total: units(invoice.total),
    tax: units(invoice.tax),
    balance: units(invoice.amount_due),
    issue_date: dayOf(invoice.date),
    due_date: dayOf(invoice.due_date),
    lines: (invoice.line_items ?? []).map((line) => ({
      description: line.description,
      quantity: line.quantity ?? null,
      unit_price: units(line.unit_amount),
      amount: units(line.amount),
      account_id: null,
    })),
    updated_at: isoOf(invoice.updated_at),
  };
}

const dayOf = (seconds: number | undefined): string | null =>
  isoOf(seconds)?.slice(0, 'YYYY-MM-DD'.length) ?? null;
