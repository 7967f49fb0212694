import type { SvcSync } from 'svc';

interface Search {
  /** Such as `contacts`. */
  type: string;
  /** Path of the documents in the response. */
  path: string;
  /** Seconds since the epoch; 0: all. */
  since: number;
  /** The page at which an interrupted run goes on. */
  cursor: string | undefined;
  /** Called when a page is saved, with the cursor of the next one. */
  onPage: (cursor: string) => Promise<void>;
}

/**
 * A search compares days of the workspace's time zone, and begins at the day after the one that it is given: two days
 * before are enough in every zone.
 */
const marginSeconds = 2 * 24 * 60 * 60;

/** Pages of what has changed since, by creation: a document that changes meanwhile moves no other. */
export const changedDocuments = <Item>(
  svc: Pick<SvcSync, 'paginate'>,
  { type, path, since, cursor, onPage }: Search,
): AsyncGenerator<Item[]> =>
  svc.paginate<Item>({
    method: 'POST',
    endpoint: `/${type}/search`,
    data: {
      query: {
        field: 'updated_at',
        operator: '>',
        value: Math.max(0, since - marginSeconds),
      },
      sort: { field: 'created_at', order: 'ascending' },
      pagination: { per_page: 150, starting_after: cursor },
    },
    paginate: {
      type: 'cursor',
      cursor_name_in_request: 'pagination.starting_after',
      cursor_path_in_response: 'pages.next.starting_after',
      response_path: path,
      limit_name_in_request: 'pagination.per_page',
      limit: 150,
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await onPage(String(next));
      },
    },
    retries: 5,
  });
