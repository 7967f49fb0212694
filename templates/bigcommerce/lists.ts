import type { SvcSync } from 'svc';
import { z } from 'zod';

export const Position = z.object({
  /** Of the documents that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The page at which an interrupted run goes on. */
  page: z.number().optional(),
});

interface Listing {
  endpoint: string;
  params: Record<string, string | undefined>;
  /** Path of the documents in the response; empty: the response is the list. */
  documents: string;
  page: number;
  /** Called after a page with the number of the next one. */
  savePosition: (page: number) => Promise<void>;
}

/** Pages of a list. The order must not be that of changes: what changes meanwhile would move the others. */
export async function* listed<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, params, documents, page, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  const pages = svc.paginate<Document>({
    endpoint,
    params,
    paginate: {
      type: 'offset',
      offset_name_in_request: 'page',
      offset_start_value: page,
      offset_calculation_method: 'per-page',
      response_path: documents,
      limit_name_in_request: 'limit',
      limit: 250,
    },
    retries: 5,
  });
  let next = page;
  for await (const rows of pages) {
    yield rows;
    next += 1;
    await savePosition(next);
  }
}
