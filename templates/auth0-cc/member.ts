import { z } from 'zod';

/** A member of an organization as Auth0 returns it. */
export const Auth0ApiMember = z.object({
  /** With the kind of connection: `auth0|…`. */
  user_id: z.string(),
  email: z.string().nullish(),
  name: z.string().nullish(),
  picture: z.string().nullish(),
});
export type Auth0ApiMember = z.infer<typeof Auth0ApiMember>;

export const OrganizationMember = z.object({
  id: z.string(),
  organization_id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  picture_url: z.string().nullable(),
});
export type OrganizationMember = z.infer<typeof OrganizationMember>;

/** @param organizationId the organization of the member */
export const memberOf = (member: Auth0ApiMember, organizationId: string): OrganizationMember => ({
  id: member.user_id,
  organization_id: organizationId,
  email: member.email ?? null,
  name: member.name ?? null,
  picture_url: member.picture ?? null,
});
