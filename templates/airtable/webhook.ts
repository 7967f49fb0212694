import { z } from 'zod';

/** A webhook as Airtable lists it. */
export const AirtableApiWebhook = z.object({
  id: z.string(),
  isHookEnabled: z.boolean(),
  areNotificationsEnabled: z.boolean(),
  notificationUrl: z.string().nullish(),
  /** Left out for a webhook that does not end. */
  expirationTime: z.string().nullish(),
});
export type AirtableApiWebhook = z.infer<typeof AirtableApiWebhook>;

/** A webhook of a base. */
export const AirtableWebhook = z.object({
  id: z.string(),
  base_id: z.string(),
  /** False: it has ended, or Airtable could not deliver. */
  is_enabled: z.boolean(),
  /** ISO 8601; null: it does not end. */
  expires_at: z.string().nullable(),
});
export type AirtableWebhook = z.infer<typeof AirtableWebhook>;

export const webhookOf = (webhook: AirtableApiWebhook, base: string): AirtableWebhook => ({
  id: webhook.id,
  base_id: base,
  is_enabled: webhook.isHookEnabled && webhook.areNotificationsEnabled,
  expires_at: webhook.expirationTime ?? null,
});
