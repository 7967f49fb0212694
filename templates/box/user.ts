import { z } from 'zod';

/** A user as Box returns it. */
export const BoxApiUser = z.object({
  id: z.string(),
  name: z.string(),
  login: z.string(),
  status: z
    .enum(['active', 'inactive', 'cannot_delete_edit', 'cannot_delete_edit_upload'])
    .optional(),
  job_title: z.string().optional(),
  phone: z.string().optional(),
  timezone: z.string().optional(),
  created_at: z.string().optional(),
  modified_at: z.string().optional(),
});
export type BoxApiUser = z.infer<typeof BoxApiUser>;

export const BoxUser = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  is_active: z.boolean(),
  job_title: z.string().nullable(),
  phone: z.string().nullable(),
  time_zone: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type BoxUser = z.infer<typeof BoxUser>;

export const userOf = (user: BoxApiUser): BoxUser => ({
  id: user.id,
  name: user.name,
  email: user.login,
  is_active: user.status !== 'inactive',
  job_title: user.job_title || null,
  phone: user.phone || null,
  time_zone: user.timezone ?? null,
  created_at: user.created_at ?? null,
  updated_at: user.modified_at ?? null,
});
