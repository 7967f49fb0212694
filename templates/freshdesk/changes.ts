import type { SvcSync } from 'svc';

/** Earlier than all documents. Without a time, lists of tickets end at those of the last 30 days. */
export const beginning = '2000-01-01T00:00:00Z';

interface Changes {
  endpoint: string;
  /** Name of the parameter with the time. */
  sinceName: string;
  params?: Record<string, string>;
  since: string;
  /** Of an interrupted run: the page of what has changed since. */
  page: number;
}

interface ChangedPage<Item> {
  items: Item[];
  /** Where the next page begins; left out: there is none. */
  next?: { since: string; page: number };
}

/**
 * Pages of what has changed since, by the time of the change. Each request begins at the last time that was read: a list
 * ends at its page 300, and a document that changes meanwhile comes again at the end, without moving others.
 */
export async function* changedPages<Item extends { updated_at: string }>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, sinceName, params, since: first, page: firstPage }: Changes,
): AsyncGenerator<ChangedPage<Item>> {
  for (let since = first, page = firstPage; ;) {
    const { data: items, headers } = await svc.get<Item[]>({
      endpoint,
      params: {
        ...params,
        [sinceName]: since,
        per_page: 100,
        page: page === 1 ? undefined : page,
      },
      retries: 5,
    });
    if (headers['link'] === undefined) {
      yield { items };
      return;
    }
    const last = items.at(-1)?.updated_at ?? since;
    // A whole page of one time: only the page number leads on.
    page = last === since ? page + 1 : 1;
    since = last;
    yield { items, next: { since, page } };
  }
}
