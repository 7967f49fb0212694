import { z } from 'zod';
import type { AccountingContact } from '../models/accounting.js';
import { isoOf } from './lists.js';

/** A contact as Xero returns it. */
export const XeroContact = z.object({
  ContactID: z.string(),
  ContactStatus: z.enum(['ACTIVE', 'ARCHIVED', 'GDPRREQUEST']),
  Name: z.string(),
  EmailAddress: z.string().optional(),
  TaxNumber: z.string().optional(),
  Phones: z
    .array(
      z.object({
        PhoneType: z.string(),
        PhoneNumber: z.string().optional(),
        PhoneAreaCode: z.string().optional(),
        PhoneCountryCode: z.string().optional(),
      }),
    )
    .optional(),
  IsSupplier: z.boolean(),
  IsCustomer: z.boolean(),
  UpdatedDateUTC: z.string(),
});
export type XeroContact = z.infer<typeof XeroContact>;

export const contactOf = (contact: XeroContact): AccountingContact => ({
  id: contact.ContactID,
  name: contact.Name,
  email: contact.EmailAddress || null,
  phone: phoneOf(contact),
  is_customer: contact.IsCustomer,
  is_supplier: contact.IsSupplier,
  tax_number: contact.TaxNumber || null,
  is_active: contact.ContactStatus === 'ACTIVE',
  updated_at: isoOf(contact.UpdatedDateUTC),
});

/** The first number: a contact has one of each type, empty where it is not known. */
function phoneOf({ Phones: phones = [] }: XeroContact): string | null {
  const phone = phones.find(({ PhoneNumber: number }) => number);
  if (phone === undefined) return null;
  return [phone.PhoneCountryCode, phone.PhoneAreaCode, phone.PhoneNumber].filter(Boolean).join(' ');
}
