import { z } from 'zod';

/** A space as Confluence lists it. */
export const ConfluenceApiSpace = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  type: z.string(),
  status: z.string(),
  authorId: z.string().nullish(),
  createdAt: z.string(),
  homepageId: z.string().nullish(),
  description: z.object({ plain: z.object({ value: z.string() }).nullish() }).nullish(),
  _links: z.object({ webui: z.string() }),
});
export type ConfluenceApiSpace = z.infer<typeof ConfluenceApiSpace>;

export const ConfluenceSpace = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  type: z.string(),
  is_archived: z.boolean(),
  homepage_id: z.string().nullable(),
  author_id: z.string().nullable(),
  url: z.string(),
  created_at: z.string(),
});
export type ConfluenceSpace = z.infer<typeof ConfluenceSpace>;

/** @param site its address */
export const spaceOf = (space: ConfluenceApiSpace, site: string): ConfluenceSpace => ({
  id: space.id,
  key: space.key,
  name: space.name,
  description: space.description?.plain?.value || null,
  type: space.type,
  is_archived: space.status === 'archived',
  homepage_id: space.homepageId ?? null,
  author_id: space.authorId ?? null,
  url: `${site}${space._links.webui}`,
  created_at: space.createdAt,
});
