import { z } from 'zod';

/** A user as Asana returns it, with the fields that `userFields` asks for. */
export const AsanaApiUser = z.object({
  gid: z.string(),
  name: z.string(),
  email: z.string().optional(),
});
export type AsanaApiUser = z.infer<typeof AsanaApiUser>;

export const userFields = 'name,email';

export const AsanaUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
});
export type AsanaUser = z.infer<typeof AsanaUser>;

export const userOf = (user: AsanaApiUser): AsanaUser => ({
  id: user.gid,
  name: user.name,
  email: user.email ?? null,
});
