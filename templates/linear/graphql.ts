import type { SvcAction } from 'svc';

interface Response<Data> {
  data?: Data | null;
  errors?: { message: string }[];
}

interface Operation {
  /** Of the query or mutation. */
  name: string;
  query: string;
  variables: Record<string, unknown>;
  retries: number;
}

/** @throws Error with the messages of the response, which may have the status 200 */
export async function request<Data>(
  svc: Pick<SvcAction, 'post'>,
  { name, query, variables, retries }: Operation,
): Promise<Data> {
  const { data } = await svc.post<Response<Data>>({
    endpoint: '/graphql',
    data: { operationName: name, query, variables },
    retries,
  });
  const messages = (data.errors ?? []).map(({ message }) => message);
  if (messages.length > 0) throw new Error(`${name}: ${messages.join('; ')}`);
  if (data.data === undefined || data.data === null) throw new Error(`${name}: no data`);
  return data.data;
}

interface Connection<Node> {
  nodes: Node[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

interface Page<Node> {
  nodes: Node[];
  after: string;
}

interface Listing {
  /** Of the query and of its field. */
  name: string;
  query: string;
  variables: Record<string, unknown>;
  /** After which an interrupted run goes on; empty: from the start. */
  after: string;
}

/** Pages of a list in the order of creation; `after` is the position behind the page, empty after the last one. */
export async function* pagesOf<Node>(
  svc: Pick<SvcAction, 'post'>,
  { name, query, variables, after: first }: Listing,
): AsyncGenerator<Page<Node>> {
  for (let after = first; ;) {
    const data = await request<Record<string, Connection<Node>>>(svc, {
      name,
      query,
      variables: { ...variables, after: after || undefined },
      retries: 5,
    });
    const connection = data[name];
    if (connection === undefined) throw new Error(`${name}: no list`);
    const { hasNextPage, endCursor } = connection.pageInfo;
    after = hasNextPage ? (endCursor ?? '') : '';
    yield { nodes: connection.nodes, after };
    if (after === '') return;
  }
}
