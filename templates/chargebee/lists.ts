import type { SvcSync } from 'svc';
import { z } from 'zod';

/** `since` of this run and the next, in seconds; `offset`: the page at which an interrupted run goes on. */
export const Position = z.object({
  since: z.number(),
  nextSince: z.number().optional(),
  offset: z.string().optional(),
});

interface Listing {
  /** Such as `customers`. */
  resource: string;
  /** The time of creation, which orders the list. */
  order: 'created_at' | 'date';
  /** Seconds since the epoch; 0: everything. */
  since: number;
  offset: string | undefined;
  /** Called after a page with the position of the next one. */
  savePosition: (offset: string) => Promise<void>;
}

/** Pages of what was changed or deleted since, by creation: what changes meanwhile moves nothing else. */
export const changed = <Entry>(
  svc: Pick<SvcSync, 'paginate'>,
  { resource, order, since, offset, savePosition }: Listing,
): AsyncGenerator<Entry[]> =>
  svc.paginate<Entry>({
    endpoint: `/${resource}`,
    params: {
      include_deleted: since > 0 ? true : undefined,
      'updated_at[after]': since > 0 ? since : undefined,
      'sort_by[asc]': order,
      offset,
    },
    paginate: {
      type: 'cursor',
      cursor_name_in_request: 'offset',
      cursor_path_in_response: 'next_offset',
      response_path: 'list',
      limit_name_in_request: 'limit',
      limit: 100,
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });

/** A time in seconds since the epoch as ISO 8601. */
export const isoOf = (seconds: number | null | undefined): string | null =>
  seconds ? new Date(seconds * 1000).toISOString() : null;
