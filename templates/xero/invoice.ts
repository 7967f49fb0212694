import { z } from 'zod';
import type { Invoice } from '../models/accounting.js';
import { isoOf } from './lists.js';

/** An invoice or bill as Xero returns it. */
export const XeroInvoice = z.object({
  InvoiceID: z.string(),
  InvoiceNumber: z.string().optional(),
  /** `ACCREC`: an invoice to a customer; `ACCPAY`: a bill. */
  Type: z.string(),
  Status: z.enum(['DRAFT', 'SUBMITTED', 'DELETED', 'AUTHORISED', 'PAID', 'VOIDED']),
  Contact: z.object({ ContactID: z.string() }).optional(),
  CurrencyCode: z.string().optional(),
  Total: z.number().optional(),
  TotalTax: z.number().optional(),
  AmountDue: z.number().optional(),
  Date: z.string().optional(),
  DueDate: z.string().optional(),
  LineItems: z
    .array(
      z.object({
        Description: z.string().optional(),
        Quantity: z.number().optional(),
        UnitAmount: z.number().optional(),
        LineAmount: z.number().optional(),
        AccountID: z.string().optional(),
      }),
    )
    .optional(),
  UpdatedDateUTC: z.string(),
});
export type XeroInvoice = z.infer<typeof XeroInvoice>;

const statuses = {
  DRAFT: 'draft',
  SUBMITTED: 'draft',
  AUTHORISED: 'open',
  PAID: 'paid',
  VOIDED: 'void',
  DELETED: 'void',
} as const;

export const invoiceOf = (invoice: XeroInvoice): Invoice => ({
  id: invoice.InvoiceID,
  number: invoice.InvoiceNumber || null,
  type: invoice.Type === 'ACCPAY' ? 'payable' : 'receivable',
  status: statuses[invoice.Status],
  contact_id: invoice.Contact?.ContactID ?? null,
  currency: invoice.CurrencyCode ?? null,
  total: invoice.Total ?? null,
  tax: invoice.TotalTax ?? null,
  balance: invoice.AmountDue ?? null,
  issue_date: dayOf(invoice.Date),
  due_date: dayOf(invoice.DueDate),
  lines: (invoice.LineItems ?? []).map((line) => ({
    description: line.Description ?? null,
    quantity: line.Quantity ?? null,
    unit_price: line.UnitAmount ?? null,
    amount: line.LineAmount ?? null,
    account_id: line.AccountID ?? null,
  })),
  updated_at: isoOf(invoice.UpdatedDateUTC),
});

const dayOf = (time: string | undefined): string | null =>
  isoOf(time)?.slice(0, 'YYYY-MM-DD'.length) ?? null;
