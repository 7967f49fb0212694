import { z } from 'zod';
import type { File } from '../models/files.js';

/** An item of a drive as Microsoft Graph returns it. */
export const DriveItem = z.object({
  id: z.string(),
  name: z.string(),
  /** Bytes. */
  size: z.number().optional(),
  /** Of a file. */
  file: z.object({ mimeType: z.string().optional() }).optional(),
  /** Of a folder, and of the top of the drive. */
  folder: z.object({ childCount: z.number().optional() }).optional(),
  parentReference: z.object({ id: z.string().optional() }).optional(),
  webUrl: z.string().optional(),
  createdBy: z.object({ user: z.object({ id: z.string().optional() }).optional() }).optional(),
  createdDateTime: z.string().optional(),
  lastModifiedDateTime: z.string().optional(),
});
export type DriveItem = z.infer<typeof DriveItem>;

export const fileOf = (item: DriveItem): File => ({
  id: item.id,
  name: item.name,
  type: item.folder === undefined ? 'file' : 'folder',
  mime_type: item.file?.mimeType ?? null,
  size: item.size ?? null,
  parent_id: item.parentReference?.id ?? null,
  // Lists of changes have no paths: a renamed folder changes those of all that it holds.
  path: null,
  url: item.webUrl ?? null,
  created_by: item.createdBy?.user?.id ?? null,
  created_at: item.createdDateTime ?? null,
  updated_at: item.lastModifiedDateTime ?? null,
});
