import { z } from 'zod';
import type { File } from '../models/files.js';

/** A file as Google returns it, with the fields that `fileFields` asks for. */
export const GoogleFile = z.object({
  id: z.string(),
  name: z.string(),
  mimeType: z.string(),
  /** Bytes, as text; folders and documents of Google's editors may have none. */
  size: z.string().optional(),
  parents: z.array(z.string()).optional(),
  webViewLink: z.string().optional(),
  owners: z.array(z.object({ emailAddress: z.string().optional() })).optional(),
  createdTime: z.string().optional(),
  modifiedTime: z.string().optional(),
  trashed: z.boolean().optional(),
});
export type GoogleFile = z.infer<typeof GoogleFile>;

export const fileFields =
  'id,name,mimeType,size,parents,webViewLink,owners(emailAddress),createdTime,modifiedTime,trashed';

const folderType = 'application/vnd.google-apps.folder';

export const fileOf = (file: GoogleFile): File => ({
  id: file.id,
  name: file.name,
  type: file.mimeType === folderType ? 'folder' : 'file',
  mime_type: file.mimeType,
  size: file.size === undefined ? null : Number(file.size),
  parent_id: file.parents?.[0] ?? null,
  path: null,
  url: file.webViewLink ?? null,
  created_by: file.owners?.[0]?.emailAddress ?? null,
  created_at: file.createdTime ?? null,
  updated_at: file.modifiedTime ?? null,
});
