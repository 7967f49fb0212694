import type { SvcSync } from 'svc';

interface TimedDocument {
  updated_datetime?: string | null | undefined;
}

interface Listing {
  endpoint: string;
  params: Record<string, string | boolean>;
  /** ISO 8601; empty: all. */
  since: string;
  /** The page at which an interrupted run goes on. */
  cursor: string | undefined;
  /** Called after a page with the cursor of the next one. */
  savePosition: (cursor: string) => Promise<void>;
}

/**
 * Pages of what has changed since. The lists have no filter by time: the newest change comes first, until one that is
 * older. What changes meanwhile moves to the front, where the next run finds it. All documents come by creation.
 */
export async function* changedSince<Document extends TimedDocument>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, params, since, cursor, savePosition }: Listing,
): AsyncGenerator<Document[]> {
  const order = since === '' ? 'created_datetime:asc' : 'updated_datetime:desc';
  const pages = svc.paginate<Document>({
    endpoint,
    params: { ...params, order_by: order, cursor },
    paginate: {
      limit: 100,
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });
  for await (const documents of pages) {
    yield documents;
    const oldest = documents.at(-1)?.updated_datetime;
    if (since !== '' && oldest && timeOf(oldest) < timeOf(since)) return;
  }
}

/** Times without a zone are of UTC. */
const timeOf = (time: string): number =>
  Date.parse(/(Z|[+-]\d{2}:?\d{2})$/.test(time) ? time : `${time}Z`);
