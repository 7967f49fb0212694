import type { SvcSync } from 'svc';
import { requestOf } from '../shared/links.js';

interface Request {
  endpoint: string;
  baseUrlOverride?: string;
  params?: Record<string, string | number | undefined>;
}

interface List {
  /** Such as `/v3/candidates`. */
  endpoint: string;
  /** ISO 8601; empty: everything. */
  since: string;
  /** Where an interrupted run goes on. */
  page: string | undefined;
  savePage: (page: string) => Promise<void>;
}

/** A page is saved by its address; its cursor is the only parameter and holds the others. */
export async function* listPages<Document>(
  svc: Pick<SvcSync, 'paginate'>,
  { endpoint, since, page, savePage }: List,
): AsyncGenerator<Document[]> {
  const pagesFrom = (request: Request): AsyncGenerator<Document[]> =>
    svc.paginate<Document>({
      ...request,
      paginate: {
        type: 'link',
        link_rel_in_response_header: 'next',
        on_page: async ({ nextPageParam }) => {
          if (typeof nextPageParam === 'string') await savePage(nextPageParam);
        },
      },
      retries: 5,
    });
  if (page !== undefined) {
    try {
      yield* pagesFrom(requestOf(page));
      return;
    } catch (error) {
      // The cursor has expired: the list begins again.
      if ((error as { response?: { status?: number } }).response?.status !== 422) throw error;
    }
  }
  const params = { per_page: 500, updated_at: since === '' ? undefined : `gte|${since}` };
  yield* pagesFrom({ endpoint, params });
}
