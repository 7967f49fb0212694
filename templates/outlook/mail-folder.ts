import { z } from 'zod';

/** A folder as Outlook returns it. A change holds at least what has changed. */
export const OutlookApiFolder = z.object({
  id: z.string(),
  displayName: z.string().optional(),
  parentFolderId: z.string().optional(),
  totalItemCount: z.number().optional(),
  unreadItemCount: z.number().optional(),
});
export type OutlookApiFolder = z.infer<typeof OutlookApiFolder>;

export const folderFields = Object.keys(OutlookApiFolder.shape);

export const MailFolder = z.object({
  id: z.string(),
  name: z.string(),
  parent_id: z.string().nullable(),
  /** As of the last change of the folder itself: Exchange reports no folder of which the counts alone have changed. */
  message_count: z.number(),
  unread_count: z.number(),
});
export type MailFolder = z.infer<typeof MailFolder>;

/** @param known the record before the change, for what the change leaves out */
export const folderOf = (folder: OutlookApiFolder, known?: MailFolder): MailFolder => ({
  id: folder.id,
  name: folder.displayName ?? known?.name ?? '',
  parent_id: folder.parentFolderId ?? known?.parent_id ?? null,
  message_count: folder.totalItemCount ?? known?.message_count ?? 0,
  unread_count: folder.unreadItemCount ?? known?.unread_count ?? 0,
});
