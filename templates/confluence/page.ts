import { z } from 'zod';

/** A page as Confluence lists it. */
export const ConfluenceApiPage = z.object({
  id: z.string(),
  status: z.string(),
  title: z.string(),
  spaceId: z.string(),
  parentId: z.string().nullish(),
  parentType: z.string().nullish(),
  authorId: z.string(),
  ownerId: z.string().nullish(),
  createdAt: z.string(),
  version: z.object({ number: z.number(), createdAt: z.string(), authorId: z.string() }),
  body: z.object({ storage: z.object({ value: z.string() }).optional() }).optional(),
  _links: z.object({ webui: z.string() }),
});
export type ConfluenceApiPage = z.infer<typeof ConfluenceApiPage>;

export const ConfluencePage = z.object({
  id: z.string(),
  title: z.string(),
  /** `current` or `archived`. */
  status: z.string(),
  space_id: z.string(),
  parent_id: z.string().nullable(),
  /** `page`, or `folder` and others. */
  parent_type: z.string().nullable(),
  /** XHTML in the format in which Confluence stores it. */
  content: z.string().nullable(),
  version: z.number(),
  author_id: z.string(),
  owner_id: z.string().nullable(),
  editor_id: z.string(),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type ConfluencePage = z.infer<typeof ConfluencePage>;

/** @param site its address */
export const pageOf = (page: ConfluenceApiPage, site: string): ConfluencePage => ({
  id: page.id,
  title: page.title,
  status: page.status,
  space_id: page.spaceId,
  parent_id: page.parentId ?? null,
  parent_type: page.parentType ?? null,
  content: page.body?.storage?.value ?? null,
  version: page.version.number,
  author_id: page.authorId,
  owner_id: page.ownerId ?? null,
  editor_id: page.version.authorId,
  url: `${site}${page._links.webui}`,
  created_at: page.createdAt,
  updated_at: page.version.createdAt,
});
