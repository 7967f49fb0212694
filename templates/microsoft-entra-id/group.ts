import { z } from 'zod';
import type { DirectoryGroup } from '../models/directory.js';

/** A group as Entra ID returns it, with the fields that `groupFields` asks for; what was never set is left out. */
export const EntraGroup = z.object({
  id: z.string(),
  displayName: z.string().nullish(),
  description: z.string().nullish(),
  mail: z.string().nullish(),
  groupTypes: z.array(z.string()).nullish(),
  mailEnabled: z.boolean().nullish(),
  securityEnabled: z.boolean().nullish(),
  createdDateTime: z.string().nullish(),
});
export type EntraGroup = z.infer<typeof EntraGroup>;

export const groupFields = Object.keys(EntraGroup.shape);

function typeOf(group: EntraGroup): string {
  if (group.groupTypes?.includes('Unified') === true) return 'microsoft_365';
  if (group.securityEnabled !== true) return 'distribution';
  return group.mailEnabled === true ? 'mail_enabled_security' : 'security';
}

export const groupOf = (group: EntraGroup): DirectoryGroup => ({
  id: group.id,
  name: group.displayName ?? '',
  description: group.description ?? null,
  email: group.mail ?? null,
  type: typeOf(group),
  created_at: group.createdDateTime ?? null,
  updated_at: null,
});
