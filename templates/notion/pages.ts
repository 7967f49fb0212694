/** A page of a list as Notion returns it. */
export interface NotionList<Row> {
  results: Row[];
  next_cursor: string | null;
  /** `incomplete`: the query has more rows than Notion lists. */
  request_status?: { type: string };
}

interface Page<Row> {
  rows: Row[];
  /** Of the next page; empty after the last one. */
  cursor: string;
  isCutOff: boolean;
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
    const { results: rows, request_status: status } = response.data;
    yield { rows, cursor, isCutOff: status?.type === 'incomplete' };
    if (cursor === '') return;
  }
}

export interface QueryPosition {
  /** The creation from which the query asks; empty: from the start. */
  from: string;
  /** Empty: the first page. */
  cursor: string;
  /** Whether Notion has more rows than it lists to this query. */
  isCutOff: boolean;
}

export const queryStart: QueryPosition = { from: '', cursor: '', isCutOff: false };

interface QueryPage<Row> {
  rows: Row[];
  /** After this page; null after the last one. */
  position: QueryPosition | null;
}

/**
 * Pages of a query in the order of creation. Notion lists 10,000 rows to a query and then says that it is incomplete: the
 * others are asked for from the creation of the last one on.
 */
export async function* queryPages<Row extends { created_time: string }>(
  ask: (from: string, ...page: Parameters<PageRequest<Row>>) => ReturnType<PageRequest<Row>>,
  first: QueryPosition,
): AsyncGenerator<QueryPage<Row>> {
  let { from, cursor, isCutOff } = first;
  for (;;) {
    let last = from;
    for await (const page of pagesOf<Row>((...one) => ask(from, ...one), cursor)) {
      cursor = page.cursor;
      isCutOff ||= page.isCutOff;
      last = page.rows.at(-1)?.created_time ?? last;
      if (cursor !== '') yield { rows: page.rows, position: { from, cursor, isCutOff } };
      else if (!isCutOff) yield { rows: page.rows, position: null };
      else yield { rows: page.rows, position: { ...queryStart, from: last } };
    }
    if (!isCutOff) return;
    if (last === from) throw new Error(`Notion does not list all that was created at ${from}`);
    from = last;
    isCutOff = false;
  }
}
