import { z } from 'zod';
import { DirectoryGroup } from '../models/directory.js';

/** A group as Google returns it. */
export const GoogleGroup = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  description: z.string().optional(),
  /** A number, as text. */
  directMembersCount: z.string().optional(),
});
export type GoogleGroup = z.infer<typeof GoogleGroup>;

export const WorkspaceGroup = DirectoryGroup.extend({
  /** Direct members, users and groups. */
  member_count: z.number(),
});
export type WorkspaceGroup = z.infer<typeof WorkspaceGroup>;

export const groupOf = (group: GoogleGroup): WorkspaceGroup => ({
  id: group.id,
  name: group.name,
  description: group.description || null,
  email: group.email,
  type: null,
  created_at: null,
  updated_at: null,
  member_count: Number(group.directMembersCount ?? 0),
});
