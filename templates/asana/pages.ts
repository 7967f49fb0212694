import type { SvcSync } from 'svc';

interface Query {
  endpoint: string;
  params?: Record<string, string | undefined>;
  /** Of the page at which an interrupted run goes on; empty: the first page. */
  offset?: string;
}

interface Page<Row> {
  rows: Row[];
  offset: string;
}

interface Response<Row> {
  data: Row[];
  next_page: { offset: string } | null;
}

const badRequest = 400;

/** Pages of a list; `offset` is that of the next page, empty after the last one. */
export async function* pagesOf<Row>(
  svc: Pick<SvcSync, 'get'>,
  query: Query,
): AsyncGenerator<Page<Row>> {
  let offset = query.offset ?? '';
  let isResumed = offset !== '';
  for (;;) {
    const page = await pageAt<Row>(svc, query, offset).catch((error: unknown) => {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      // An offset expires after some time: then the list begins again.
      if (!isResumed || status !== badRequest) throw error;
      return null;
    });
    isResumed = false;
    offset = page?.next_page?.offset ?? '';
    if (page === null) continue;
    yield { rows: page.data, offset };
    if (offset === '') return;
  }
}

async function pageAt<Row>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, params }: Query,
  offset: string,
): Promise<Response<Row>> {
  const { data } = await svc.get<Response<Row>>({
    endpoint,
    params: { ...params, limit: 100, offset: offset || undefined },
    retries: 5,
  });
  return data;
}
