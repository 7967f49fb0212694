import { z } from 'zod';
import type { DirectoryUser } from '../models/directory.js';

/** A user as Okta returns it; the profile may have further fields of the organization. */
export const OktaUser = z.object({
  id: z.string(),
  status: z.string(),
  created: z.string(),
  lastLogin: z.string().nullish(),
  lastUpdated: z.string(),
  profile: z.object({
    login: z.string(),
    email: z.string(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    displayName: z.string().nullish(),
    title: z.string().nullish(),
    department: z.string().nullish(),
    primaryPhone: z.string().nullish(),
    mobilePhone: z.string().nullish(),
  }),
});
export type OktaUser = z.infer<typeof OktaUser>;

const statuses: Readonly<Record<string, DirectoryUser['status']>> = {
  STAGED: 'pending',
  PROVISIONED: 'pending',
  SUSPENDED: 'inactive',
  DEPROVISIONED: 'inactive',
};

export const userOf = ({ profile, ...user }: OktaUser): DirectoryUser => ({
  id: user.id,
  username: profile.login,
  email: profile.email,
  first_name: profile.firstName || null,
  last_name: profile.lastName || null,
  display_name: profile.displayName || null,
  job_title: profile.title || null,
  department: profile.department || null,
  phone: profile.mobilePhone || profile.primaryPhone || null,
  status: statuses[user.status] ?? 'active',
  provider_status: user.status,
  last_login_at: user.lastLogin ?? null,
  created_at: user.created,
  updated_at: user.lastUpdated,
});
