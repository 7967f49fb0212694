import type { SvcSync } from 'svc';
import { requestOf } from '../shared/links.js';
import type { AircallContact } from './contact.js';

interface Listing {
  /** Seconds since the epoch. */
  since: number;
  /** The page at which an interrupted run goes on. */
  page: string | undefined;
  /** Called after a page with the address of the next one. */
  savePosition: (page: string) => Promise<void>;
}

/**
 * Pages of the contacts that were changed since. The list has no filter by the change: the newest comes first, until
 * one that is older. What changes meanwhile moves to the front, where the next run finds it.
 */
export async function* changedContacts(
  svc: Pick<SvcSync, 'paginate'>,
  { since, page, savePosition }: Listing,
): AsyncGenerator<AircallContact[]> {
  const first = { endpoint: '/v1/contacts', params: { order_by: 'updated_at', order: 'desc' } };
  const pages = svc.paginate<AircallContact>({
    ...(page === undefined ? first : requestOf(page)),
    paginate: {
      response_path: 'contacts',
      ...(page === undefined ? { limit: 50 } : {}),
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });
  for await (const contacts of pages) {
    yield contacts;
    const oldest = contacts.at(-1)?.updated_at;
    if (oldest !== undefined && oldest < since) return;
  }
}
