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
  /** Path of the documents in the response. */
  documents: string;
  params: Record<string, string | boolean>;
  since: string;
  page: number;
  /** Called after a page with the number of the next one. */
  savePosition: (page: number) => Promise<void>;
}

/** Pages of what was changed since; `order` must not be the time of the change, which moves documents. */
export async function* changed<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, documents, params, since, page, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  const pages = svc.paginate<Document>({
    endpoint,
    params,
    headers: since === '' ? {} : { 'if-modified-since': since.replace(/(\.\d+)?Z$/, '') },
    paginate: {
      type: 'offset',
      offset_name_in_request: 'page',
      offset_start_value: page,
      offset_calculation_method: 'per-page',
      response_path: documents,
      limit_name_in_request: 'pageSize',
      limit: 1000,
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

/** A time such as `/Date(1573755038314+0000)/` as ISO 8601. */
export function isoOf(time: string | undefined): string | null {
  const milliseconds = /\/Date\((-?\d+)/.exec(time ?? '')?.[1];
  return milliseconds === undefined ? null : new Date(Number(milliseconds)).toISOString();
}
