import { z } from 'zod';

/** Common models of accounting. Amounts are in the units of the currency, not in cents. */

export const LineItem = z.object({
  description: z.string().nullable(),
  quantity: z.number().nullable(),
  unit_price: z.number().nullable(),
  amount: z.number().nullable(),
  account_id: z.string().nullable(),
});

export const Invoice = z.object({
  id: z.string(),
  number: z.string().nullable(),
  /** `receivable`: an invoice to a customer; `payable`: a bill of a supplier. */
  type: z.enum(['receivable', 'payable']),
  status: z.enum(['draft', 'open', 'paid', 'void']),
  contact_id: z.string().nullable(),
  /** ISO 4217. */
  currency: z.string().nullable(),
  total: z.number().nullable(),
  tax: z.number().nullable(),
  balance: z.number().nullable(),
  /** ISO 8601 date. */
  issue_date: z.string().nullable(),
  due_date: z.string().nullable(),
  lines: z.array(LineItem),
  updated_at: z.string().nullable(),
});
export type Invoice = z.infer<typeof Invoice>;

export const AccountingPayment = z.object({
  id: z.string(),
  contact_id: z.string().nullable(),
  invoice_ids: z.array(z.string()),
  amount: z.number().nullable(),
  currency: z.string().nullable(),
  date: z.string().nullable(),
  reference: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type AccountingPayment = z.infer<typeof AccountingPayment>;

/** A customer or supplier. */
export const AccountingContact = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  is_customer: z.boolean(),
  is_supplier: z.boolean(),
  tax_number: z.string().nullable(),
  is_active: z.boolean(),
  updated_at: z.string().nullable(),
});
export type AccountingContact = z.infer<typeof AccountingContact>;

/** An account of the chart of accounts. */
export const LedgerAccount = z.object({
  id: z.string(),
  code: z.string().nullable(),
  name: z.string(),
  type: z.enum(['asset', 'liability', 'equity', 'revenue', 'expense']).nullable(),
  currency: z.string().nullable(),
  is_active: z.boolean(),
});
export type LedgerAccount = z.infer<typeof LedgerAccount>;
