import { z } from 'zod';
import type { Invoice } from '../models/accounting.js';

/** An invoice as QuickBooks returns it. */
export const QuickbooksInvoice = z.object({
  Id: z.string(),
  DocNumber: z.string().optional(),
  TxnDate: z.string().optional(),
  DueDate: z.string().optional(),
  TotalAmt: z.number(),
  Balance: z.number(),
  CustomerRef: z.object({ value: z.string() }),
  CurrencyRef: z.object({ value: z.string() }).optional(),
  TxnTaxDetail: z.object({ TotalTax: z.number().optional() }).optional(),
  /** QuickBooks writes it on an invoice that was made void. */
  PrivateNote: z.string().optional(),
  Line: z.array(
    z.object({
      DetailType: z.string(),
      Description: z.string().optional(),
      Amount: z.number().optional(),
      SalesItemLineDetail: z
        .object({
          Qty: z.number().optional(),
          UnitPrice: z.number().optional(),
          ItemAccountRef: z.object({ value: z.string() }).optional(),
        })
        .optional(),
    }),
  ),
  MetaData: z.object({ CreateTime: z.string(), LastUpdatedTime: z.string() }),
});
export type QuickbooksInvoice = z.infer<typeof QuickbooksInvoice>;

export const invoiceOf = (invoice: QuickbooksInvoice): Invoice => ({
  id: invoice.Id,
  number: invoice.DocNumber ?? null,
  type: 'receivable',
  status: statusOf(invoice),
  contact_id: invoice.CustomerRef.value,
  currency: invoice.CurrencyRef?.value ?? null,
  total: invoice.TotalAmt,
  tax: invoice.TxnTaxDetail?.TotalTax ?? null,
  balance: invoice.Balance,
  issue_date: invoice.TxnDate ?? null,
  due_date: invoice.DueDate ?? null,
  // Subtotals are lines too.
  lines: invoice.Line.filter((line) => line.DetailType !== 'SubTotalLineDetail').map((line) => ({
    description: line.Description ?? null,
    quantity: line.SalesItemLineDetail?.Qty ?? null,
    unit_price: line.SalesItemLineDetail?.UnitPrice ?? null,
    amount: line.Amount ?? null,
    account_id: line.SalesItemLineDetail?.ItemAccountRef?.value ?? null,
  })),
  updated_at: invoice.MetaData.LastUpdatedTime,
});

/** A void invoice has no amount, and a note that says so. */
function statusOf({ TotalAmt: total, Balance: balance, PrivateNote: note }: QuickbooksInvoice) {
  if (total === 0 && note?.startsWith('Voided') === true) return 'void';
  return balance === 0 ? 'paid' : 'open';
}
