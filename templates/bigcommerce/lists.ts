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
  page: number;
  /** Called after a page with the number of the next one. */
  savePosition: (page: number) => Promise<void>;
}

/** The maximum. */
const limit = 250;

/** Of the third version; the second one has lists without it. */
interface Envelope<Document> {
  data: Document[];
  meta: { pagination: { total: number; per_page: number } };
}

/** Pages of a list. The order must not be that of changes: what changes meanwhile would move the others. */
export async function* listed<Document>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, params, page: first, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  for (let page = first; ; page += 1) {
    const { data } = await svc.get<Envelope<Document> | Document[] | ''>({
      endpoint,
      params: { ...params, page, limit },
      retries: 5,
    });
    // Behind the last page the second version has no content.
    const body = data === '' ? [] : data;
    const rows = Array.isArray(body) ? body : body.data;
    if (rows.length === 0) return;
    yield rows;
    if (!Array.isArray(body) && page * body.meta.pagination.per_page >= body.meta.pagination.total)
      return;
    await savePosition(page + 1);
  }
}
