import { z } from 'zod';
import { File } from '../models/files.js';

/** A page of a database as Notion returns it. */
export const NotionPage = z.object({
  object: z.string(),
  id: z.string(),
  created_time: z.string(),
  last_edited_time: z.string(),
  created_by: z.object({ id: z.string() }),
  url: z.string(),
  /** By the names of the columns; the title is one of them. */
  properties: z.record(z.string(), z.looseObject({ type: z.string() })),
});
export type NotionPage = z.infer<typeof NotionPage>;

/** A page with its columns. */
export const DatabasePage = File.extend({
  properties: z.record(z.string(), z.looseObject({ type: z.string() })),
});
export type DatabasePage = z.infer<typeof DatabasePage>;

const titleProperty = z.object({
  type: z.literal('title'),
  title: z.array(z.object({ plain_text: z.string() })),
});

function titleOf({ properties }: NotionPage): string {
  for (const property of Object.values(properties)) {
    const { data } = titleProperty.safeParse(property);
    if (data !== undefined) return data.title.map((part) => part.plain_text).join('');
  }
  return '';
}

/** @param databaseId the database that holds the page */
export const pageOf = (page: NotionPage, databaseId: string): DatabasePage => ({
  id: page.id,
  name: titleOf(page),
  type: 'page',
  mime_type: null,
  size: null,
  parent_id: databaseId,
  path: null,
  url: page.url,
  created_by: page.created_by.id,
  created_at: page.created_time,
  updated_at: page.last_edited_time,
  properties: page.properties,
});
