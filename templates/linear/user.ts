import { z } from 'zod';

/** A user as Linear returns it, with the fields that `usersQuery` asks for. */
export const LinearApiUser = z.object({
  id: z.string(),
  name: z.string(),
  displayName: z.string(),
  email: z.string(),
  active: z.boolean(),
  admin: z.boolean(),
  guest: z.boolean(),
});
export type LinearApiUser = z.infer<typeof LinearApiUser>;

export const usersQuery = `query users($after: String) {
  users(first: 100, after: $after, orderBy: createdAt, includeDisabled: true) {
    nodes { id name displayName email active admin guest }
    pageInfo { hasNextPage endCursor }
  }
}`;

export const LinearUser = z.object({
  id: z.string(),
  name: z.string(),
  display_name: z.string(),
  email: z.string(),
  role: z.enum(['admin', 'member', 'guest']),
  is_active: z.boolean(),
});
export type LinearUser = z.infer<typeof LinearUser>;

function roleOf({ admin, guest }: LinearApiUser): LinearUser['role'] {
  if (admin) return 'admin';
  return guest ? 'guest' : 'member';
}

export const userOf = (user: LinearApiUser): LinearUser => ({
  id: user.id,
  name: user.name,
  display_name: user.displayName,
  email: user.email,
  role: roleOf(user),
  is_active: user.active,
});
