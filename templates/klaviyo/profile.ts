import { z } from 'zod';
import type { Contact } from '../models/crm.js';

/** A profile as Klaviyo returns it. */
export const KlaviyoProfile = z.object({
  id: z.string(),
  attributes: z.object({
    email: z.string().nullish(),
    phone_number: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    title: z.string().nullish(),
    created: z.string().nullish(),
    updated: z.string().nullish(),
  }),
});
export type KlaviyoProfile = z.infer<typeof KlaviyoProfile>;

export const contactOf = ({ id, attributes }: KlaviyoProfile): Contact => ({
  id,
  first_name: attributes.first_name ?? null,
  last_name: attributes.last_name ?? null,
  emails: [attributes.email].filter(isText),
  phones: [attributes.phone_number].filter(isText),
  company_id: null,
  job_title: attributes.title ?? null,
  owner_id: null,
  created_at: attributes.created ?? null,
  updated_at: attributes.updated ?? null,
});

const isText = (value: string | null | undefined): value is string =>
  value !== null && value !== undefined && value !== '';
