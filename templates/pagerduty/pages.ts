import type { SvcSync } from 'svc';

export const pageSize = 100;

interface Query {
  endpoint: string;
  /** Field of the response that holds the rows. */
  path: string;
  params?: Record<string, string>;
}

interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** The page that begins at the offset. */
export async function pageAt<Row>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, path, params }: Query,
  offset: number,
): Promise<Page<Row>> {
  const { data } = await svc.get<{ more: boolean } & Record<string, Row[]>>({
    endpoint,
    params: { ...params, limit: pageSize, offset },
    retries: 5,
  });
  return { rows: data[path] ?? [], hasMore: data.more };
}
