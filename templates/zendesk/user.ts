import { z } from 'zod';

/** A user as Zendesk exports it. */
export const ZendeskUser = z.object({
  id: z.number(),
  name: z.string(),
  email: z.string().nullish(),
  phone: z.string().nullish(),
  role: z.string().nullish(),
  organization_id: z.number().nullish(),
  suspended: z.boolean().nullish(),
  /** False: deleted. */
  active: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ZendeskUser = z.infer<typeof ZendeskUser>;

/** A customer, or a person who answers tickets. */
export const SupportUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  phone: z.string().nullable(),
  /** `end-user`, `agent` or `admin`. */
  role: z.string().nullable(),
  organization_id: z.string().nullable(),
  is_suspended: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type SupportUser = z.infer<typeof SupportUser>;

export const supportUserOf = (user: ZendeskUser): SupportUser => ({
  id: String(user.id),
  name: user.name,
  email: user.email ?? null,
  phone: user.phone ?? null,
  role: user.role ?? null,
  organization_id: typeof user.organization_id === 'number' ? String(user.organization_id) : null,
  is_suspended: user.suspended ?? false,
  created_at: user.created_at,
  updated_at: user.updated_at,
});
