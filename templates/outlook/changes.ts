import type { SvcSync } from 'svc';
import { requestOf } from '../shared/links.js';

/** What was deleted has its id and the reason alone. */
type Entry<Item> = Item & { '@removed'?: { reason: string } };

interface Response<Item> {
  value: Entry<Item>[];
  '@odata.nextLink'?: string;
  '@odata.deltaLink'?: string;
}

interface Page<Item> {
  present: Item[];
  removed: { id: string }[];
  /** Of the next page, or of the changes from now on. */
  link: string;
  isLast: boolean;
}

interface Query {
  endpoint: string;
  select: readonly string[];
}

/** Without it a page has ten messages; the documentation names no maximum. */
const pageSize = 500;

/** Pages of all items, or from a link on. */
export async function* changesOf<Item extends { id: string }>(
  svc: Pick<SvcSync, 'get'>,
  { endpoint, select }: Query,
  first: string,
): AsyncGenerator<Page<Item>> {
  for (let link = first; ;) {
    const { data } = await svc.get<Response<Item>>({
      // A link has the parameters of the first request in it.
      ...(link === '' ? { endpoint, params: { $select: select.join(',') } } : requestOf(link)),
      headers: { prefer: `odata.maxpagesize=${pageSize}` },
      retries: 5,
    });
    const isLast = data['@odata.nextLink'] === undefined;
    const entries = latestOf(data.value);
    link = data['@odata.nextLink'] ?? data['@odata.deltaLink'] ?? '';
    yield {
      present: entries.filter((entry) => !isRemoved(entry)),
      removed: entries.filter(isRemoved).map(({ id }) => ({ id })),
      link,
      isLast,
    };
    if (isLast) return;
  }
}

const isRemoved = (entry: { '@removed'?: unknown }): boolean => entry['@removed'] !== undefined;

/** An item may come several times: what came later counts. */
function latestOf<Item extends { id: string }>(entries: readonly Entry<Item>[]): Entry<Item>[] {
  const latest = new Map<string, Entry<Item>>();
  for (const entry of entries) {
    const before = latest.get(entry.id);
    const isChange = before !== undefined && !isRemoved(before) && !isRemoved(entry);
    latest.set(entry.id, isChange ? { ...before, ...entry } : entry);
  }
  return [...latest.values()];
}

const gone = 410;

/** Whether the link is too old: everything has to be read again. */
export function isLinkGone(error: unknown): boolean {
  const { response } = error as {
    response?: { status?: number; data?: { error?: { code?: string } } };
  };
  return response?.status === gone || response?.data?.error?.code === 'syncStateNotFound';
}
