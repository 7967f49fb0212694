import { z } from 'zod';
import type { Contact } from '../models/crm.js';
import type { AttioRecord } from './record.js';

/** The attributes of a person that the mapping uses. */
export const AttioPersonValues = z.object({
  name: z
    .array(z.object({ first_name: z.string().nullish(), last_name: z.string().nullish() }))
    .nullish(),
  email_addresses: z.array(z.object({ email_address: z.string() })).nullish(),
  phone_numbers: z.array(z.object({ phone_number: z.string() })).nullish(),
  company: z.array(z.object({ target_record_id: z.string() })).nullish(),
  job_title: z.array(z.object({ value: z.string() })).nullish(),
});
export type AttioPersonValues = z.infer<typeof AttioPersonValues>;

export const contactOf = ({
  id,
  values,
  created_at: createdAt,
}: AttioRecord<AttioPersonValues>): Contact => ({
  id: id.record_id,
  first_name: values.name?.[0]?.first_name ?? null,
  last_name: values.name?.[0]?.last_name ?? null,
  emails: (values.email_addresses ?? []).map((one) => one.email_address),
  phones: (values.phone_numbers ?? []).map((one) => one.phone_number),
  company_id: values.company?.[0]?.target_record_id ?? null,
  job_title: values.job_title?.[0]?.value ?? null,
  owner_id: null,
  created_at: createdAt,
  updated_at: null,
});
