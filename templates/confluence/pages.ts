import type { SvcSync } from 'svc';

interface Query {
  endpoint: string;
  params: Record<string, string | readonly string[] | undefined>;
  /** Of the page at which an interrupted run goes on; empty: the first page. */
  cursor: string;
}

interface Page<Row> {
  rows: Row[];
  /** Of the next page; empty: this is the last one. */
  cursor: string;
  /** The address of the site, below which links are. */
  site: string;
}

interface Response<Row> {
  results: Row[];
  _links: { next?: string; base?: string };
}

/** Pages of a list, by id: what changes meanwhile moves nothing to a page that was read. */
export async function* pagesOf<Row>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, params, ...query }: Query,
): AsyncGenerator<Page<Row>> {
  let { cursor } = query;
  do {
    const { data } = await svc.get<Response<Row>>({
      endpoint,
      params: { ...params, sort: 'id', limit: 250, cursor: cursor || undefined },
      retries: 5,
    });
    const { next, base = '' } = data._links;
    cursor = cursorOf(next ?? '');
    yield { rows: data.results, cursor, site: base };
  } while (cursor !== '');
}

/** Of a link, which begins with the path of the site: requests with OAuth have another one. */
const cursorOf = (link: string): string =>
  new URLSearchParams(link.slice(link.indexOf('?') + 1)).get('cursor') ?? '';
