import { z } from 'zod';

/** An organization as Auth0 returns it. */
export const Auth0ApiOrganization = z.object({
  id: z.string(),
  /** For addresses and requests. */
  name: z.string(),
  display_name: z.string().nullish(),
  branding: z.object({ logo_url: z.string().nullish() }).nullish(),
  metadata: z.record(z.string(), z.string().nullable()).nullish(),
});
export type Auth0ApiOrganization = z.infer<typeof Auth0ApiOrganization>;

export const Auth0Organization = z.object({
  id: z.string(),
  name: z.string(),
  display_name: z.string().nullable(),
  logo_url: z.string().nullable(),
  metadata: z.record(z.string(), z.string().nullable()),
});
export type Auth0Organization = z.infer<typeof Auth0Organization>;

export const organizationOf = (organization: Auth0ApiOrganization): Auth0Organization => ({
  id: organization.id,
  name: organization.name,
  display_name: organization.display_name ?? null,
  logo_url: organization.branding?.logo_url ?? null,
  metadata: organization.metadata ?? {},
});
