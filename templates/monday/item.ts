import { z } from 'zod';

/** An item as monday returns it, with the fields that the queries ask for. */
export const MondayApiItem = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
  creator_id: z.string().nullable(),
  url: z.string(),
  group: z.object({ id: z.string(), title: z.string() }).nullable(),
  column_values: z.array(
    z.object({ id: z.string(), type: z.string(), text: z.string().nullable() }),
  ),
});
export type MondayApiItem = z.infer<typeof MondayApiItem>;

const page = `cursor
      items {
        id name created_at updated_at creator_id url
        group { id title }
        column_values { id type text }
      }`;

export const firstQuery = `query items($board: [ID!], $limit: Int!) {
  boards(ids: $board) {
    items_page(limit: $limit) {
      ${page}
    }
  }
}`;

export const nextQuery = `query nextItems($cursor: String!, $limit: Int!) {
  next_items_page(cursor: $cursor, limit: $limit) {
      ${page}
  }
}`;

export const MondayItem = z.object({
  id: z.string(),
  name: z.string(),
  board_id: z.string(),
  group: z.string().nullable(),
  /** Values as people see them. */
  columns: z.array(z.object({ id: z.string(), type: z.string(), text: z.string().nullable() })),
  creator_id: z.string().nullable(),
  url: z.string(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type MondayItem = z.infer<typeof MondayItem>;

export const itemOf = (item: MondayApiItem, boardId: string): MondayItem => ({
  id: item.id,
  name: item.name,
  board_id: boardId,
  group: item.group?.title ?? null,
  columns: item.column_values,
  creator_id: item.creator_id,
  url: item.url,
  created_at: item.created_at,
  updated_at: item.updated_at,
});
