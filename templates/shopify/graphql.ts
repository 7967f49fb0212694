import type { SvcSync } from 'svc';
import { z } from 'zod';

export const endpoint = '/admin/api/2026-10/graphql.json';

export const Position = z.object({
  /** Of the documents that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The page at which an interrupted run goes on. */
  cursor: z.string().optional(),
});

interface Listing {
  /** Field of the query with the list, such as `products`. */
  field: string;
  /** With the variables `$first`, `$after` and `$query`, sorted by id. */
  query: string;
  first: number;
  since: string;
  cursor: string | undefined;
  /** Called after a page with the position of the next one. */
  savePosition: (cursor: string) => Promise<void>;
}

interface Connection<Node> {
  nodes: Node[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

interface GraphqlResponse<Data> {
  data?: Data | null;
  errors?: { message: string }[];
}

/** The data of a response. GraphQL answers errors with status 200. @throws Error with its messages */
export function dataOf<Data>({ data, errors }: GraphqlResponse<Data>): Data {
  if (errors !== undefined || data === undefined || data === null)
    throw new Error(errors?.map(({ message }) => message).join(' ') ?? 'Shopify returned no data');
  return data;
}

/** Pages of what was changed since, by id: what changes meanwhile moves nothing else. */
export async function* changed<Node>(
  svc: Pick<SvcSync, 'post'>,
  { field, query, first, since, cursor, savePosition }: Listing,
): AsyncGenerator<Node[]> {
  for (let after = cursor ?? null; ;) {
    const { data } = await svc.post<GraphqlResponse<Record<string, Connection<Node>>>>({
      endpoint,
      data: {
        query,
        variables: { first, after, query: since === '' ? null : `updated_at:>='${since}'` },
      },
      retries: 5,
    });
    const connection = dataOf(data)[field];
    if (connection === undefined) throw new Error(`Shopify returned no ${field}`);
    yield connection.nodes;
    const { hasNextPage, endCursor } = connection.pageInfo;
    if (!hasNextPage || endCursor === null) return;
    after = endCursor;
    await savePosition(endCursor);
  }
}
