import type { SvcSync } from 'svc';

/** A list ends after so many documents. */
const listMax = 10_000;
/** The windows overlap by a minute. */
const overlapSeconds = 60;

interface Listing<Document> {
  endpoint: string;
  params: Record<string, string>;
  /** Path of the documents in the response. */
  path: string;
  /** Creation of the first documents, in seconds since the epoch; 0: the first ones of all. */
  from: number;
  /** Seconds since the epoch. */
  createdAt: (document: Document) => number;
  /** Called after a page with the creation of its last document. */
  savePosition: (from: number) => Promise<void>;
}

/** Pages of documents by creation. Where a list ends, another begins at its last document. */
export async function* createdFrom<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, params, path, from: first, createdAt, savePosition }: Listing<Document>,
): AsyncGenerator<Document[]> {
  for (let from = first; ;) {
    const pages = svc.paginate<Document>({
      endpoint,
      params: { ...params, order: 'asc', from: from === 0 ? undefined : from },
      paginate: { response_path: path, limit: 50 },
      retries: 5,
    });
    let count = 0;
    for await (const documents of pages) {
      yield documents;
      count += documents.length;
      const last = documents.at(-1);
      if (last === undefined) continue;
      from = createdAt(last) - overlapSeconds;
      await savePosition(from);
    }
    if (count < listMax) return;
  }
}
