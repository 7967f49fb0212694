import type { SvcSync } from 'svc';
import { z } from 'zod';

export const Position = z.object({
  /** Of the changes that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The page at which an interrupted run goes on. */
  page: z.number().optional(),
});

interface Listing {
  /** Such as `people`. */
  resource: string;
  /** ISO 8601; empty: all. */
  since: string;
  page: number;
  /** Called after a page with the number of the next one. */
  savePosition: (page: number) => Promise<void>;
}

/** Pages by creation: a document that changes meanwhile moves no other to a page that was read. */
export async function* changedSince<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { resource, since, page, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  const pages = svc.paginate<Document>({
    endpoint: `/v2/${resource}`,
    params: {
      'updated_at[gte]': since || undefined,
      sort_by: 'created_at',
      sort_direction: 'ASC',
    },
    paginate: { offset_start_value: page, limit: 100 },
    retries: 5,
  });
  let next = page;
  for await (const documents of pages) {
    yield documents;
    next += 1;
    await savePosition(next);
  }
}
