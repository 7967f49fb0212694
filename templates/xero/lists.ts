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

/** The maximum. */
const pageSize = 1000;

type Page<Document> = Record<string, Document[]> & {
  pagination?: { pageSize: number; itemCount: number };
};

/** Pages of what was changed since; `order` must not be the time of the change, which moves documents. */
export async function* changed<Document>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, documents, params, since, page: first, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  for (let page = first; ; page += 1) {
    const { data } = await svc.get<Page<Document>>({
      endpoint,
      params: { ...params, page, pageSize },
      headers: since === '' ? {} : { 'if-modified-since': since.replace(/(\.\d+)?Z$/, '') },
      retries: 5,
    });
    const rows = data[documents] ?? [];
    if (rows.length === 0) return;
    yield rows;
    if (
      data.pagination !== undefined &&
      page * data.pagination.pageSize >= data.pagination.itemCount
    )
      return;
    await savePosition(page + 1);
  }
}

/** A time such as `/Date(1573755038314+0000)/` as ISO 8601. */
export function isoOf(time: string | undefined): string | null {
  const milliseconds = /\/Date\((-?\d+)/.exec(time ?? '')?.[1];
  return milliseconds === undefined ? null : new Date(Number(milliseconds)).toISOString();
}
