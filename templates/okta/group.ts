import { z } from 'zod';
import type { DirectoryGroup } from '../models/directory.js';

/** A group as Okta returns it. */
export const OktaGroup = z.object({
  id: z.string(),
  created: z.string(),
  lastUpdated: z.string(),
  type: z.string(),
  profile: z.object({ name: z.string(), description: z.string().nullish() }),
});
export type OktaGroup = z.infer<typeof OktaGroup>;

export const groupOf = (group: OktaGroup): DirectoryGroup => ({
  id: group.id,
  name: group.profile.name,
  description: group.profile.description || null,
  email: null,
  type: group.type,
  created_at: group.created,
  updated_at: group.lastUpdated,
});
