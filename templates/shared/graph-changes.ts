import type { SvcSync } from 'svc';
import { requestOf } from './links.js';

/** What was deleted has its id alone, with the reason, or as an item of a drive with a mark. */
type Entry<Item> = Item & { '@removed'?: { reason: string }; deleted?: object };

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
  /** Of the first request: the links have them in them. */
  params?: Record<string, string | number>;
  /** Of every request. */
  headers?: Record<string, string>;
}

/** Pages of all items of a collection of Microsoft Graph, or from a link on. */
export async function* changesOf<Item extends { id: string }>(
  svc: Pick<SvcSync, 'get'>,
  { headers = {}, ...query }: Query,
  first: string,
): AsyncGenerator<Page<Item>> {
  for (let link = first; ;) {
    const { data } = await svc.get<Response<Item>>({
      ...(link === '' ? query : requestOf(link)),
      headers,
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

const isRemoved = (entry: { '@removed'?: unknown; deleted?: unknown }): boolean =>
  entry['@removed'] !== undefined || (entry.deleted ?? null) !== null;

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
const goneCodes = ['syncStateNotFound', 'resyncRequired'];

/** Whether the link is too old: everything has to be read again. */
export function isLinkGone(error: unknown): boolean {
  const { response } = error as {
    response?: { status?: number; data?: { error?: { code?: string } } };
  };
  return response?.status === gone || goneCodes.includes(response?.data?.error?.code ?? '');
}
