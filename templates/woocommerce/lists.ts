import type { SvcSync } from 'svc';
import { requestOf } from '../shared/links.js';

interface Listing {
  /** Such as `orders`. */
  resource: string;
  params: Record<string, string | boolean | undefined>;
  /** The page at which an interrupted run goes on. */
  page: string | undefined;
  /** Called after a page with the address of the next one. */
  savePosition: (page: string) => Promise<void>;
}

/** Pages of a list, by id: a document that changes meanwhile moves no other. */
export const listed = <Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { resource, params, page, savePosition }: Listing,
): AsyncGenerator<Document[]> =>
  svc.paginate<Document>({
    ...(page === undefined
      ? { endpoint: `/${resource}`, params: { ...params, orderby: 'id', order: 'asc' } }
      : requestOf(page)),
    paginate: {
      type: 'link',
      link_rel_in_response_header: 'next',
      ...(page === undefined ? { limit_name_in_request: 'per_page', limit: 100 } : {}),
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });

/** The filter of documents that were changed after a time (empty: all), which stands there without its zone. */
export const changedAfter = (since: string): Record<string, string | boolean | undefined> =>
  since === '' ? {} : { modified_after: since.replace(/(\.\d+)?Z$/, ''), dates_are_gmt: true };

/** A time of a field that ends in `_gmt`, which has no zone, as ISO 8601 of UTC. */
export const utcOf = (time: string | null | undefined): string | null =>
  time ? new Date(`${time}Z`).toISOString() : null;
