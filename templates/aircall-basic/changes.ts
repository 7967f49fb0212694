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
  /** Called where the list ended before a contact that is older. */
  onCut: () => void;
}

/** A list ends after so many contacts. */
const listMax = 10_000;
const pageSize = 50;

/**
 * Pages of the contacts that were changed since. The list has no filter by the change: the newest comes first, until
 * one that is older. What changes meanwhile moves to the front, where the next run finds it.
 */
export async function* changedContacts(
  svc: Pick<SvcSync, 'paginate'>,
  { since, page, savePosition, onCut }: Listing,
): AsyncGenerator<AircallContact[]> {
  const first = { endpoint: '/v1/contacts', params: { order_by: 'updated_at', order: 'desc' } };
  const pages = svc.paginate<AircallContact>({
    ...(page === undefined ? first : requestOf(page)),
    paginate: {
      response_path: 'contacts',
      ...(page === undefined ? { limit: pageSize } : {}),
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await savePosition(String(next));
      },
    },
    retries: 5,
  });
  let count = page === undefined ? 0 : (numberOf(page) - 1) * pageSize;
  for await (const contacts of pages) {
    count += contacts.length;
    yield contacts;
    const oldest = contacts.at(-1)?.updated_at;
    if (oldest !== undefined && oldest < since) return;
  }
  if (count >= listMax) onCut();
}

/** Of the page at an address. */
const numberOf = (address: string): number =>
  Number(new URLSearchParams(address.slice(address.indexOf('?') + 1)).get('page'));
