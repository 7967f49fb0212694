import { z } from 'zod';
import type { DirectoryUser } from '../models/directory.js';

/** A user as Entra ID returns it, with the fields that `userFields` asks for; what was never set is left out. */
export const EntraUser = z.object({
  id: z.string(),
  userPrincipalName: z.string().nullish(),
  mail: z.string().nullish(),
  givenName: z.string().nullish(),
  surname: z.string().nullish(),
  displayName: z.string().nullish(),
  jobTitle: z.string().nullish(),
  department: z.string().nullish(),
  mobilePhone: z.string().nullish(),
  businessPhones: z.array(z.string()).nullish(),
  accountEnabled: z.boolean().nullish(),
  /** Of an invited guest: `PendingAcceptance` or `Accepted`. */
  externalUserState: z.string().nullish(),
  createdDateTime: z.string().nullish(),
});
export type EntraUser = z.infer<typeof EntraUser>;

export const userFields = Object.keys(EntraUser.shape);

function statusOf(user: EntraUser): DirectoryUser['status'] {
  if (user.accountEnabled === false) return 'inactive';
  return user.externalUserState === 'PendingAcceptance' ? 'pending' : 'active';
}

export const userOf = (user: EntraUser): DirectoryUser => ({
  id: user.id,
  username: user.userPrincipalName ?? null,
  email: user.mail ?? null,
  first_name: user.givenName ?? null,
  last_name: user.surname ?? null,
  display_name: user.displayName ?? null,
  job_title: user.jobTitle ?? null,
  department: user.department ?? null,
  phone: user.mobilePhone ?? user.businessPhones?.[0] ?? null,
  status: statusOf(user),
  provider_status: null,
  last_login_at: null,
  created_at: user.createdDateTime ?? null,
  updated_at: null,
});
