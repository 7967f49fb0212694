import type { ProxyConfiguration, SvcSync } from 'svc';

/** A place in a list: of all entries, or of those that have changed since the token. */
export interface ListPosition {
  /** Empty: all entries. */
  syncToken: string;
  /** Empty: the first page. */
  pageToken: string;
}

export const start: ListPosition = { syncToken: '', pageToken: '' };

interface ListPage<Entry> {
  items?: Entry[];
  nextPageToken?: string;
  nextSyncToken?: string;
}

interface ChangedEntries<Entry> {
  entries: Entry[];
  /** After this page. */
  position: ListPosition;
  isLast: boolean;
}

const gone = 410;

/** Pages of a list from a position on. */
export async function* changedEntries<Entry>(
  svc: Pick<SvcSync, 'get'>,
  {
    endpoint,
    params,
  }: Pick<ProxyConfiguration, 'endpoint'> & { params: Record<string, string | number | boolean> },
  { syncToken, pageToken: first }: ListPosition,
): AsyncGenerator<ChangedEntries<Entry>> {
  for (let pageToken = first; ;) {
    const { data } = await svc.get<ListPage<Entry>>({
      endpoint,
      params: {
        ...params,
        syncToken: syncToken || undefined,
        pageToken: pageToken || undefined,
      },
      retries: 5,
    });
    pageToken = data.nextPageToken ?? '';
    const isLast = pageToken === '';
    const position = isLast
      ? { ...start, syncToken: data.nextSyncToken ?? '' }
      : { syncToken, pageToken };
    yield { entries: data.items ?? [], position, isLast };
    if (isLast) return;
  }
}

/** Whether Google no longer knows the token: everything has to be read again. */
export const isTokenGone = (error: unknown): boolean =>
  (error as { response?: { status?: number } }).response?.status === gone;
