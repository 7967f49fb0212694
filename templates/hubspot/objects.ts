import type { SvcSync } from 'svc';

/** An object of the CRM with the properties that were asked for. */
export interface HubspotObject<Properties> {
  id: string;
  properties: Properties;
  createdAt: string;
  updatedAt: string;
  archived?: boolean;
}

/** The search returns at most so many objects a page. */
const searchLimit = 200;

interface Search {
  /** Such as `contacts`. */
  type: string;
  properties: readonly string[];
  /** The property with the time of the last change: `lastmodifieddate` of contacts, else `hs_lastmodifieddate`. */
  changedProperty: string;
  /** Milliseconds since the epoch. */
  since: number;
  /** The object after which an interrupted run goes on. */
  lastId: string | undefined;
}

/**
 * Pages of the objects that have changed since, by their ids: the `after` of a search ends at 10,000 objects, and an
 * object that changes meanwhile would move the others.
 */
export async function* changedObjects<Properties>(
  svc: Pick<SvcSync, 'post'>,
  { type, properties, changedProperty, since, lastId }: Search,
): AsyncGenerator<HubspotObject<Properties>[]> {
  for (let after = lastId; ;) {
    const filters = [
      { propertyName: changedProperty, operator: 'GTE', value: String(since) },
      ...(after === undefined
        ? []
        : [{ propertyName: 'hs_object_id', operator: 'GT', value: after }]),
    ];
    const { data } = await svc.post<{ results: HubspotObject<Properties>[] }>({
      endpoint: `/crm/objects/2026-03/${type}/search`,
      data: {
        filterGroups: [{ filters }],
        sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
        properties,
        limit: searchLimit,
      },
      retries: 5,
    });
    after = data.results.at(-1)?.id;
    if (after === undefined) return;
    yield data.results;
  }
}

/** Pages of the objects that were deleted in the last 90 days. */
export const archivedObjects = (
  svc: Pick<SvcSync, 'paginate'>,
  type: string,
): AsyncGenerator<{ id: string }[]> =>
  svc.paginate<{ id: string }>({
    endpoint: `/crm/objects/2026-03/${type}`,
    params: { archived: true },
    paginate: {
      type: 'cursor',
      cursor_name_in_request: 'after',
      cursor_path_in_response: 'paging.next.after',
      response_path: 'results',
      limit_name_in_request: 'limit',
      limit: 100,
    },
    retries: 5,
  });
