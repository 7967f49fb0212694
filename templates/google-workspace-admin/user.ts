import { z } from 'zod';
import type { DirectoryUser } from '../models/directory.js';

/** A user as Google returns it. Fields without a value are left out. */
export const GoogleUser = z.object({
  id: z.string(),
  primaryEmail: z.string(),
  name: z.object({
    givenName: z.string().optional(),
    familyName: z.string().optional(),
    fullName: z.string().optional(),
  }),
  suspended: z.boolean().optional(),
  archived: z.boolean().optional(),
  organizations: z
    .array(
      z.object({
        title: z.string().optional(),
        department: z.string().optional(),
        primary: z.boolean().optional(),
      }),
    )
    .optional(),
  phones: z
    .array(z.object({ value: z.string().optional(), primary: z.boolean().optional() }))
    .optional(),
  creationTime: z.string().optional(),
  lastLoginTime: z.string().optional(),
});
export type GoogleUser = z.infer<typeof GoogleUser>;

/** Of somebody who has never signed in. */
const never = Date.UTC(1970, 0, 1);

const primaryOf = <Item extends { primary?: boolean | undefined }>(
  items: readonly Item[] = [],
): Item | undefined => items.find(({ primary }) => primary === true) ?? items[0];

function loginTime({ lastLoginTime: time }: GoogleUser): string | null {
  return time === undefined || Date.parse(time) === never ? null : time;
}

function statusOf({ suspended, archived }: GoogleUser): string {
  if (archived === true) return 'archived';
  return suspended === true ? 'suspended' : 'active';
}

export function userOf(user: GoogleUser): DirectoryUser {
  const job = primaryOf(user.organizations);
  const status = statusOf(user);
  return {
    id: user.id,
    username: user.primaryEmail,
    email: user.primaryEmail,
    first_name: user.name.givenName || null,
    last_name: user.name.familyName || null,
    display_name: user.name.fullName || null,
    job_title: job?.title || null,
    department: job?.department || null,
    phone: primaryOf(user.phones)?.value || null,
    status: status === 'active' ? 'active' : 'inactive',
    provider_status: status,
    last_login_at: loginTime(user),
    created_at: user.creationTime ?? null,
    updated_at: null,
  };
}
