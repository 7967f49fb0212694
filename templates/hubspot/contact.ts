import { z } from 'zod';
import type { Contact } from '../models/crm.js';

/** A contact as HubSpot returns it, with the properties that `contactProperties` asks for. */
export const HubspotContact = z.object({
  id: z.string(),
  properties: z.object({
    email: z.string().nullish(),
    firstname: z.string().nullish(),
    lastname: z.string().nullish(),
    phone: z.string().nullish(),
    mobilephone: z.string().nullish(),
    jobtitle: z.string().nullish(),
    associatedcompanyid: z.string().nullish(),
    hubspot_owner_id: z.string().nullish(),
  }),
  createdAt: z.string(),
  updatedAt: z.string(),
});
export type HubspotContact = z.infer<typeof HubspotContact>;

export const contactProperties = Object.keys(HubspotContact.shape.properties.shape);

export function contactOf({ id, properties, createdAt, updatedAt }: HubspotContact): Contact {
  const { email, phone, mobilephone } = properties;
  return {
    id,
    first_name: properties.firstname ?? null,
    last_name: properties.lastname ?? null,
    emails: [email].filter(isText),
    phones: [phone, mobilephone].filter(isText),
    company_id: properties.associatedcompanyid ?? null,
    job_title: properties.jobtitle ?? null,
    owner_id: properties.hubspot_owner_id ?? null,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

const isText = (value: string | null | undefined): value is string =>
  value !== null && value !== undefined && value !== '';
