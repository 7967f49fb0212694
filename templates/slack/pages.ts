import type { SvcSync } from 'svc';

interface Query {
  /** Such as `users.list`. */
  method: string;
  params?: Record<string, string | boolean>;
  /** Field of the response with the rows. */
  rows: string;
  /** Of the page at which an interrupted run goes on; empty: the first page. */
  cursor: string;
}

interface Page<Row> {
  rows: Row[];
  /** Of the next page; empty after the last one. */
  cursor: string;
}

interface Response {
  ok: boolean;
  error?: string;
  response_metadata?: { next_cursor?: string };
  [rows: string]: unknown;
}

/** More than 200 may time out. */
const pageSize = 200;

/**
 * Pages of a list.
 * @throws Error with the error of a response, which has the status 200
 */
export async function* pagesOf<Row>(
  svc: Pick<SvcSync, 'get'>,
  { method, params, rows, cursor: first }: Query,
): AsyncGenerator<Page<Row>> {
  let cursor = first;
  for (;;) {
    const { data } = await svc.get<Response>({
      endpoint: `/${method}`,
      params: { ...params, limit: pageSize, cursor: cursor || undefined },
      retries: 5,
    });
    if (data.error === 'invalid_cursor' && cursor !== '' && cursor === first) {
      // The cursor of an interrupted run is too old: the list begins again.
      cursor = '';
      continue;
    }
    if (!data.ok) throw new Error(`${method}: ${data.error ?? 'no reason'}`);
    cursor = data.response_metadata?.next_cursor ?? '';
    yield { rows: (data[rows] ?? []) as Row[], cursor };
    if (cursor === '') return;
  }
}
