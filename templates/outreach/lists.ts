import type { SvcSync } from 'svc';
import { z } from 'zod';
import { requestOf } from '../shared/links.js';

export const Position = z.object({
  /** Day of the changes that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The page at which an interrupted run goes on. */
  page: z.string().optional(),
});

interface Listing {
  /** Such as `prospects`. */
  resource: string;
  /** ISO 8601 date; empty: all. */
  since: string;
  page: string | undefined;
  /** Called after a page with the address of the next one. */
  savePosition: (page: string) => Promise<void>;
}

/** Pages by creation: a document that changes meanwhile moves no other to a page that was read. */
export const changedSince = <Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { resource, since, page, savePosition }: Listing,
): AsyncGenerator<Document[]> => {
  const first = {
    endpoint: `/api/v2/${resource}`,
    params: {
      'filter[updatedAt]': since === '' ? undefined : `${since}..inf`,
      sort: 'createdAt',
      count: false,
    },
  };
  return svc.paginate<Document>({
    ...(page === undefined ? first : requestOf(page)),
    paginate: {
      ...(page === undefined ? { limit: 1000 } : {}),
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });
};

/** The day of a time in milliseconds since the epoch, in UTC. */
export const dayOf = (time: number): string =>
  new Date(time).toISOString().slice(0, 'YYYY-MM-DD'.length);
