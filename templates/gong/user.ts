import { z } from 'zod';
import type { CrmUser } from '../models/crm.js';

/** A user as Gong returns it. */
export const GongUser = z.object({
  id: z.string(),
  emailAddress: z.string().nullish(),
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  active: z.boolean(),
});
export type GongUser = z.infer<typeof GongUser>;

export const userOf = (user: GongUser): CrmUser => ({
  id: user.id,
  name: [user.firstName, user.lastName].filter(Boolean).join(' '),
  email: user.emailAddress ?? null,
  is_active: user.active,
});
