import { z } from 'zod';
import type { AccountingContact } from '../models/accounting.js';

/** A customer as QuickBooks returns it. */
export const QuickbooksCustomer = z.object({
  Id: z.string(),
  DisplayName: z.string(),
  /** Left out: active. */
  Active: z.boolean().nullish(),
  PrimaryEmailAddr: z.object({ Address: z.string().optional() }).optional(),
  PrimaryPhone: z.object({ FreeFormNumber: z.string().optional() }).optional(),
  MetaData: z.object({ CreateTime: z.string(), LastUpdatedTime: z.string() }),
});
export type QuickbooksCustomer = z.infer<typeof QuickbooksCustomer>;

/** Numbers for taxes are masked in the API. */
export const contactOf = (customer: QuickbooksCustomer): AccountingContact => ({
  id: customer.Id,
  name: customer.DisplayName,
  email: customer.PrimaryEmailAddr?.Address ?? null,
  phone: customer.PrimaryPhone?.FreeFormNumber ?? null,
  is_customer: true,
  is_supplier: false,
  tax_number: null,
  is_active: customer.Active ?? true,
  updated_at: customer.MetaData.LastUpdatedTime,
});
