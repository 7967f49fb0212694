import { z } from 'zod';
import type { File } from '../models/files.js';

/** An item of a folder as Box returns it, with the fields that `itemFields` asks for. */
export const BoxItem = z.object({
  id: z.string(),
  type: z.enum(['file', 'folder', 'web_link']),
  name: z.string(),
  /** Bytes. */
  size: z.number().nullish(),
  parent: z.object({ id: z.string() }).nullish(),
  created_by: z.object({ id: z.string() }).nullish(),
  created_at: z.string().nullish(),
  modified_at: z.string().nullish(),
});
export type BoxItem = z.infer<typeof BoxItem>;

export const itemFields = Object.keys(BoxItem.shape);

export const fileOf = (item: BoxItem): File => ({
  // Files and folders have ids of their own.
  id: `${item.type}:${item.id}`,
  name: item.name,
  type: item.type === 'folder' ? 'folder' : 'file',
  mime_type: null,
  size: item.size ?? null,
  parent_id: item.parent ? `folder:${item.parent.id}` : null,
  path: null,
  url: `https://app.box.com/${item.type}/${item.id}`,
  created_by: item.created_by?.id ?? null,
  created_at: item.created_at ?? null,
  updated_at: item.modified_at ?? null,
});
