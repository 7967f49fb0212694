import type { SvcSync } from 'svc';

interface ExportPage<Item> {
  items: Item[];
  /** Where the next page begins, or the next run after the last page. */
  cursor: string | undefined;
}

/**
 * Pages of an incremental export, deleted ones included: 1,000 items each, the default and the maximum. The cursor of
 * the last page lists what changes afterwards.
 * @param kind such as `tickets`, which is the field of the response too
 */
export async function* exportedPages<Item>(
  svc: Pick<SvcSync, 'get'>,
  kind: string,
  lastCursor: string | undefined,
): AsyncGenerator<ExportPage<Item>> {
  for (let cursor = lastCursor; ;) {
    const { data } = await svc.get<
      Record<string, Item[]> & { after_cursor: string | null; end_of_stream: boolean }
    >({
      endpoint: `/api/v2/incremental/${kind}/cursor`,
      params: cursor === undefined ? { start_time: 0 } : { cursor },
      retries: 5,
    });
    // An export without results has no cursor: the one before it stays.
    cursor = data.after_cursor ?? cursor;
    yield { items: data[kind] ?? [], cursor };
    if (data.end_of_stream) return;
  }
}
