import { z } from 'zod';

/** Common models of directories: who may sign in, and in which groups. */

export const DirectoryUser = z.object({
  id: z.string(),
  /** With which the person signs in. */
  username: z.string().nullable(),
  email: z.string().nullable(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  display_name: z.string().nullable(),
  job_title: z.string().nullable(),
  department: z.string().nullable(),
  phone: z.string().nullable(),
  /** Pending: the person has not signed in yet. */
  status: z.enum(['active', 'inactive', 'pending']),
  /** As the provider calls it. */
  provider_status: z.string().nullable(),
  last_login_at: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type DirectoryUser = z.infer<typeof DirectoryUser>;

export const DirectoryGroup = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  email: z.string().nullable(),
  /** As the provider calls it. */
  type: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type DirectoryGroup = z.infer<typeof DirectoryGroup>;
