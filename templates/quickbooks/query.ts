import type { SvcSync } from 'svc';
import { z } from 'zod';

export const Position = z.object({
  /** Of the objects that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The row at which an interrupted run goes on. */
  start: z.number().optional(),
  /** Id of the row before it. */
  last: z.string().optional(),
});
type Position = z.infer<typeof Position>;

/** The version of the objects' shapes. */
export const minorVersion = 75;

/** A query returns at most so many objects. */
const pageSize = 1000;

interface Query {
  /** Such as `Customer`. */
  entity: string;
  /** Further conditions. */
  where: string[];
  since: string;
  position: RowPosition;
  /** Called after a page with the first row of the next one. */
  savePosition: (position: RowPosition) => Promise<void>;
}

type RowPosition = Pick<Position, 'start' | 'last'>;

/**
 * Pages of what was changed since, by id: what changes meanwhile moves nothing else. What is deleted meanwhile moves the
 * rows behind it to pages that were read: each page begins with the last row of the one before. If that row is not there,
 * the page before is read again.
 */
export async function* changed<Item extends { Id: string }>(
  svc: Pick<SvcSync, 'get'>,
  { entity, where, since, position, savePosition }: Query,
): AsyncGenerator<Item[]> {
  const conditions = [
    ...where,
    ...(since === '' ? [] : [`MetaData.LastUpdatedTime >= '${since}'`]),
  ];
  const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  for (let { start = 1, last } = position; ;) {
    const first = last === undefined ? start : start - 1;
    const { data } = await svc.get<{ QueryResponse: Record<string, Item[] | undefined> }>({
      endpoint: '/v3/company/${connectionConfig.realmId}/query',
      params: {
        query: `select * from ${entity}${filter} orderby Id startposition ${first} maxresults ${pageSize}`,
        minorversion: minorVersion,
      },
      retries: 5,
    });
    const items = data.QueryResponse[entity] ?? [];
    if (last !== undefined && items[0]?.Id !== last) {
      start = Math.max(1, start - pageSize);
      last = undefined;
      continue;
    }
    if (items.length > 0) yield items;
    // The response has no sign of further pages.
    if (items.length < pageSize) return;
    start = first + items.length;
    last = items.at(-1)?.Id;
    await savePosition({ start, last });
  }
}

/** Changes are captured for 30 days. */
const capturedMs = 30 * 24 * 60 * 60 * 1000;

interface Capture {
  CDCResponse: { QueryResponse: Record<string, CapturedItem[] | undefined>[] }[];
}

interface CapturedItem {
  Id: string;
  /** `Deleted`, or left out. */
  status?: string;
}

/**
 * The objects of an entity that were deleted since, if the response of at most 1,000 changes has them: the others are
 * found by a run from the start.
 */
export async function deletedSince(
  svc: Pick<SvcSync, 'get'>,
  entity: string,
  since: string,
): Promise<{ id: string }[]> {
  if (new Date(since).getTime() < new Date().getTime() - capturedMs) return [];
  const { data } = await svc.get<Capture>({
    endpoint: '/v3/company/${connectionConfig.realmId}/cdc',
    params: { entities: entity, changedSince: since, minorversion: minorVersion },
    retries: 5,
  });
  return data.CDCResponse.flatMap((response) => response.QueryResponse)
    .flatMap((lists) => lists[entity] ?? [])
    .filter(({ status }) => status === 'Deleted')
    .map(({ Id: id }) => ({ id }));
}
