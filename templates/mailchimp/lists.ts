import type { SvcSync } from 'svc';

interface Listing {
  endpoint: string;
  params: Record<string, string | undefined>;
  /** Path of the documents in the response. */
  path: string;
  offset: number;
  /** Called after a page with the number of documents before the next one. */
  savePosition: (offset: number) => Promise<void>;
}

/** The maximum. */
const count = 1000;

type Page<Document> = Record<string, Document[]> & { total_items: number };

/** Pages of a list. The order must not be that of changes: what changes meanwhile would move the others. */
export async function* listed<Document>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, params, path, offset: first, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  for (let offset = first; ;) {
    const { data } = await svc.get<Page<Document>>({
      endpoint,
      params: { ...params, offset, count },
      retries: 5,
    });
    const documents = data[path] ?? [];
    if (documents.length === 0) return;
    yield documents;
    offset += documents.length;
    if (offset >= data.total_items) return;
    await savePosition(offset);
  }
}
