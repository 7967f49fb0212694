import type { SvcSync } from 'svc';
import { pagesFrom } from '../shared/page-tokens.js';

interface Search {
  endpoint: string;
  /** Of the request, but for its cursor. */
  data: Record<string, unknown>;
  /** Field of the response that holds the rows. */
  path: string;
}

interface FoundPage<Row> {
  rows: Row[];
  nextPageToken: string | null;
}

/**
 * Pages of a search from a cursor on. A cursor is valid for minutes: where that of an interrupted run is refused, the
 * search begins again.
 */
export const searchedFrom = <Row>(
  svc: Pick<SvcSync, 'post'>,
  first: string | undefined,
  { endpoint, data: search, path }: Search,
) =>
  pagesFrom<FoundPage<Row>>(first ?? '', async (cursor) => {
    const { data } = await svc.post<{ cursor?: string } & Record<string, Row[]>>({
      endpoint,
      data: { ...search, cursor },
      retries: 5,
    });
    return { data: { rows: data[path] ?? [], nextPageToken: data.cursor ?? null } };
  });
