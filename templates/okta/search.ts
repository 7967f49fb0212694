import type { ProxyConfiguration } from 'svc';
import { requestOf } from '../shared/links.js';

/** Okta asks for no more: longer pages are slow and inexact. */
const pageSize = 200;

interface Search {
  endpoint: string;
  /** Of what has changed since; ISO 8601. */
  since: string;
  /** Of the page at which an interrupted run goes on. */
  link?: string | undefined;
  onPage: (link: string) => Promise<void>;
}

/** The request of what has changed. A list without a search leaves deactivated users out. */
export function searchRequest({ endpoint, since, link, onPage }: Search): ProxyConfiguration {
  const first = {
    endpoint,
    params: {
      search: `lastUpdated gt "${since}"`,
      // By creation: what changes meanwhile moves nothing to a page that was read.
      sortBy: 'created',
      sortOrder: 'asc',
    },
  };
  return {
    ...(link === undefined ? first : requestOf(link)),
    paginate: {
      type: 'link',
      link_rel_in_response_header: 'next',
      ...(link === undefined ? { limit_name_in_request: 'limit', limit: pageSize } : {}),
      on_page: async ({ nextPageParam: next }) => {
        if (next !== undefined) await onPage(String(next));
      },
    },
    retries: 5,
  };
}

/** Before everything. */
export const beginning = new Date(0).toISOString();
