interface Page {
  /** Left out or null on the last page. */
  nextPageToken?: string | null;
}

type PageRequest<One> = (pageToken: string | undefined) => Promise<{ data: One }>;

interface ListedPage<One> {
  page: One;
  /** Of the next page; empty after the last one. */
  pageToken: string;
}

const badRequest = 400;

/** Pages of a list from a token on; empty: from the start. */
export async function* pagesFrom<One extends Page>(
  first: string,
  ask: PageRequest<One>,
): AsyncGenerator<ListedPage<One>> {
  let isResumed = first !== '';
  for (let pageToken = first; ;) {
    const response = await ask(pageToken || undefined).catch((error: unknown) => {
      const { status } = (error as { response?: { status?: number } }).response ?? {};
      // The token of an interrupted run is too old: the list begins again.
      if (!isResumed || status !== badRequest) throw error;
      return null;
    });
    isResumed = false;
    pageToken = response?.data.nextPageToken ?? '';
    if (response === null) continue;
    yield { page: response.data, pageToken };
    if (pageToken === '') return;
  }
}
