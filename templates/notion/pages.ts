/** A page of a list as Notion returns it. */
export interface NotionList<Row> {
  results: Row[];
  next_cursor: string | null;
}

interface Page<Row> {
  rows: Row[];
  /** Of the next page; empty after the last one. */
  cursor: string;
}

type PageRequest<Row> = (
  cursor: string | undefined,
  pageSize: number,
) => Promise<{ data: NotionList<Row> }>;

/** The maximum. */
const pageSize = 100;
const badRequest = 400;

/** Pages of a list from a cursor on; empty: from the start. */
export async function* pagesOf<Row>(
  ask: PageRequest<Row>,
  first: string,
): AsyncGenerator<Page<Row>> {
  let cursor = first;
  let isResumed = first !== '';
  for (;;) {
    const response = await ask(cursor || undefined, pageSize).catch((error: unknown) => {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      // The cursor of an interrupted run is too old: the list begins again.
      if (!isResumed || status !== badRequest) throw error;
      return null;
    });
    isResumed = false;
    cursor = response?.data.next_cursor ?? '';
    if (response === null) continue;
    yield { rows: response.data.results, cursor };
    if (cursor === '') return;
  }
}
