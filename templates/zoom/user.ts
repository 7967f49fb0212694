import { z } from 'zod';

/** A user as Zoom lists it. */
export const ZoomApiUser = z.object({
  id: z.string(),
  email: z.string(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  display_name: z.string().nullish(),
  /** 1: basic; 2: licensed; 99: none. */
  type: z.number(),
  status: z.string(),
  dept: z.string().nullish(),
  timezone: z.string().nullish(),
  role_id: z.string().nullish(),
  group_ids: z.array(z.string()).nullish(),
  created_at: z.string().nullish(),
  last_login_time: z.string().nullish(),
});
export type ZoomApiUser = z.infer<typeof ZoomApiUser>;

export const ZoomUser = z.object({
  id: z.string(),
  email: z.string(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  display_name: z.string().nullable(),
  is_licensed: z.boolean(),
  department: z.string().nullable(),
  time_zone: z.string().nullable(),
  role_id: z.string().nullable(),
  group_ids: z.array(z.string()),
  created_at: z.string().nullable(),
  last_login_at: z.string().nullable(),
});
export type ZoomUser = z.infer<typeof ZoomUser>;

const licensed = 2;

export const userOf = (user: ZoomApiUser): ZoomUser => ({
  id: user.id,
  email: user.email,
  first_name: user.first_name || null,
  last_name: user.last_name || null,
  display_name: user.display_name || null,
  is_licensed: user.type === licensed,
  department: user.dept || null,
  time_zone: user.timezone || null,
  role_id: user.role_id ?? null,
  group_ids: user.group_ids ?? [],
  created_at: user.created_at ?? null,
  last_login_at: user.last_login_time ?? null,
});
