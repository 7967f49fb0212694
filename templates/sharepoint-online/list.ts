import { z } from 'zod';

/** A list of a site as SharePoint returns it. */
export const SharepointApiList = z.object({
  id: z.string(),
  name: z.string().nullish(),
  displayName: z.string().nullish(),
  description: z.string().nullish(),
  webUrl: z.string().nullish(),
  createdDateTime: z.string().nullish(),
  lastModifiedDateTime: z.string().nullish(),
  list: z.object({ hidden: z.boolean().nullish(), template: z.string().nullish() }).nullish(),
});
export type SharepointApiList = z.infer<typeof SharepointApiList>;

export const SharepointList = z.object({
  id: z.string(),
  site_id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  /** Such as `documentLibrary` or `genericList`. */
  template: z.string().nullable(),
  is_hidden: z.boolean(),
  url: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type SharepointList = z.infer<typeof SharepointList>;

/** @param siteId the site that holds the list */
export const listOf = (list: SharepointApiList, siteId: string): SharepointList => ({
  id: list.id,
  site_id: siteId,
  name: list.displayName ?? list.name ?? '',
  description: list.description || null,
  template: list.list?.template ?? null,
  is_hidden: list.list?.hidden ?? false,
  url: list.webUrl ?? null,
  created_at: list.createdDateTime ?? null,
  updated_at: list.lastModifiedDateTime ?? null,
});
