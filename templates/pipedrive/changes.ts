import type { SvcSync } from 'svc';

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

/** Pages of what has changed since, by id: an object that changes meanwhile moves no other. */
export const changedObjects = <Item>(
  svc: Pick<SvcSync, 'paginate'>,
  { type, params, since, cursor, onPage }: ListOfChanges,
): AsyncGenerator<Item[]> =>
  svc.paginate<Item>({
    endpoint: `/api/v2/${type}`,
    params: {
      ...params,
      updated_since: since || undefined,
      sort_by: 'id',
      sort_direction: 'asc',
      cursor,
    },
    paginate: {
      limit: 500,
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await onPage(String(next));
      },
    },
    retries: 5,
  });
