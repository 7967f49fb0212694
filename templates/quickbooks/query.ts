import type { SvcSync } from 'svc';
import { z } from 'zod';

export const Position = z.object({
  /** Of the objects that this run asks for; empty: all. */
  since: z.string(),
  nextSince: z.string().optional(),
  /** The row at which an interrupted run goes on. */
  start: z.number().optional(),
});

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
  start: number;
  /** Called after a page with the first row of the next one. */
  savePosition: (start: number) => Promise<void>;
}

/** Pages of what was changed since, by id: what changes meanwhile moves nothing else. */
export async function* changed<Item>(
  svc: Pick<SvcSync, 'get'>,
  { entity, where, since, start: first, savePosition }: Query,
): AsyncGenerator<Item[]> {
  const conditions = [
    ...where,
    ...(since === '' ? [] : [`MetaData.LastUpdatedTime >= '${since}'`]),
  ];
  const filter = conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`;
  for (let start = first; ;) {
    const { data } = await svc.get<{ QueryResponse: Record<string, Item[] | undefined> }>({
      endpoint: '/v3/company/${connectionConfig.realmId}/query',
      params: {
        query: `select * from ${entity}${filter} orderby Id startposition ${start} maxresults ${pageSize}`,
        minorversion: minorVersion,
      },
      retries: 5,
    });
    const items = data.QueryResponse[entity] ?? [];
    if (items.length > 0) yield items;
    // The response has no sign of further pages.
    if (items.length < pageSize) return;
    start += items.length;
    await savePosition(start);
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
