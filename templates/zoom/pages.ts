import type { SvcSync } from 'svc';

interface Query {
  endpoint: string;
  /** Field of the response that holds the rows. */
  path: string;
  params: Record<string, string>;
  /** Of the page at which an interrupted run goes on; empty: the first page. */
  token: string;
}

interface Page<Row> {
  rows: Row[];
  /** Of the next page; empty: this is the last one. */
  token: string;
}

type Response<Row> = { next_page_token?: string } & Record<string, Row[]>;

const badRequest = 400;

/** Pages of a list. */
export async function* pagesOf<Row>(
  svc: Pick<SvcSync, 'get'>,
  query: Query,
): AsyncGenerator<Page<Row>> {
  let { token } = query;
  let isResumed = token !== '';
  for (;;) {
    const response = await pageAt<Row>(svc, query, token).catch((error: unknown) => {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      // A token expires after 15 minutes: then the list begins again.
      if (!isResumed || status !== badRequest) throw error;
      return null;
    });
    isResumed = false;
    token = response?.next_page_token ?? '';
    if (response === null) continue;
    yield { rows: response[query.path] ?? [], token };
    if (token === '') return;
  }
}

async function pageAt<Row>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, params }: Query,
  token: string,
): Promise<Response<Row>> {
  const { data } = await svc.get<Response<Row>>({
    endpoint,
    params: { ...params, page_size: 300, next_page_token: token || undefined },
    retries: 5,
  });
  return data;
}
