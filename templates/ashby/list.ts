import type { SvcSync } from 'svc';

interface ListResponse<Document> {
  success: boolean;
  results?: Document[];
  moreDataAvailable?: boolean;
  nextCursor?: string | null;
  syncToken?: string | null;
  /** Codes; `errorInfo` has the first of them with its message. */
  errors?: string[];
  errorInfo?: { code?: string; message?: string };
}

/** Where a list goes on; both are empty at the beginning of everything. */
interface Position {
  /** Lists what has changed since the run that returned it. */
  syncToken: string;
  /** The next page; empty: this was the last one. */
  cursor: string;
}

interface List {
  /** Such as `/candidate.list`. */
  endpoint: string;
  /** Further parameters. */
  data?: object;
  position: Position;
}

interface ListedPage<Document> {
  documents: Document[];
  /** Whether it is the first page of this run that is one of everything. */
  beginsAll: boolean;
  next: Position;
}

/** After these the list has to be read from the beginning, without the token. */
const restarts: ReadonlySet<string> = new Set([
  'next_cursor_expired',
  'invalid_next_cursor',
  'cursor_invalid',
  'sync_token_expired',
  'sync_token_invalid',
  'incremental_sync_too_large',
]);

/** Ashby answers a refusal with 200 too. When the position has expired, everything is listed. */
export async function* listPages<Document>(
  svc: Pick<SvcSync, 'post'>,
  { endpoint, data, position }: List,
): AsyncGenerator<ListedPage<Document>> {
  let { syncToken, cursor } = position;
  let beginsAll = syncToken === '';
  for (;;) {
    const { data: page } = await svc.post<ListResponse<Document>>({
      endpoint,
      data: {
        ...data,
        limit: 100,
        ...(syncToken === '' ? {} : { syncToken }),
        ...(cursor === '' ? {} : { cursor }),
      },
      retries: 5,
    });
    const isAtBeginning = syncToken === '' && cursor === '';
    if (!page.success) {
      const { code = page.errors?.[0] ?? 'unknown', message = '' } = page.errorInfo ?? {};
      if (isAtBeginning || !restarts.has(code))
        throw new Error(`Ashby refused ${endpoint}: ${code} ${message}`);
      beginsAll = true;
      syncToken = '';
      cursor = '';
      continue;
    }
    const documents = page.results ?? [];
    if (page.moreDataAvailable !== true || !page.nextCursor) {
      yield { documents, beginsAll, next: { syncToken: page.syncToken ?? '', cursor: '' } };
      return;
    }
    cursor = page.nextCursor;
    yield { documents, beginsAll, next: { syncToken, cursor } };
    beginsAll = false;
  }
}
