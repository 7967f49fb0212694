import { z } from 'zod';

/** Common models of file storage and knowledge bases. */

export const File = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['file', 'folder', 'page']),
  mime_type: z.string().nullable(),
  /** Bytes. */
  size: z.number().nullable(),
  parent_id: z.string().nullable(),
  /** Where folders have paths. */
  path: z.string().nullable(),
  url: z.string().nullable(),
  created_by: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type File = z.infer<typeof File>;
