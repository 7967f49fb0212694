import type { SvcSync } from 'svc';
import { pagesFrom } from '../shared/page-tokens.js';

interface ListOfChanges {
  /** Such as `persons`. */
  type: string;
  params?: Record<string, string>;
  /** RFC 3339; empty: all. */
  since: string;
  /** The page at which an interrupted run goes on. */
  cursor: string | undefined;
  /** Called when a page is saved, with the cursor of the next one. */
  onPage: (cursor: string) => Promise<void>;
}

interface ListResponse<Item> {
  data: Item[] | null;
  additional_data?: { next_cursor?: string | null } | null;
}

/**
 * Pages of what has changed since, by id: an object that changes meanwhile moves no other. No page of the documentation
 * says how long a cursor is valid: where that of an interrupted run is refused, the list begins again.
 */
export async function* changedObjects<Item>(
  svc: Pick<SvcSync, 'get'>,
  { type, params, since, cursor: first, onPage }: ListOfChanges,
): AsyncGenerator<Item[]> {
  const pages = pagesFrom(first ?? '', async (cursor) => {
    const { data: list } = await svc.get<ListResponse<Item>>({
      endpoint: `/api/v2/${type}`,
      params: {
        ...params,
        updated_since: since || undefined,
        sort_by: 'id',
        sort_direction: 'asc',
        limit: 500,
        cursor,
      },
      retries: 5,
    });
    const nextPageToken = list.additional_data?.next_cursor ?? null;
    return { data: { items: list.data ?? [], nextPageToken } };
  });
  for await (const { page, pageToken } of pages) {
    yield page.items;
    if (pageToken !== '') await onPage(pageToken);
  }
}
