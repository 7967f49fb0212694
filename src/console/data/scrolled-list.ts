import { useQueries, useQueryClient } from '@tanstack/preact-query';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Answer, Input, PagedOperation } from '#client/index.ts';
import { useAccess } from '../session/context.tsx';
import {
  cursorBefore,
  joined,
  pageAt,
  startOfPage,
  withExtent,
  type Extent,
  type LoadedPage,
} from './extents.ts';
import { cursorOf, requestOf, withCursor } from './read.ts';

/** A list of any length: it is read as it is scrolled, and only pages near the view are kept. */
export interface ScrolledList<Item> {
  /** Items of the pages that were read so far. */
  readonly count: number;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error: unknown;
  /** Undefined while its page is read. */
  readonly at: (index: number) => Item | undefined;
  /** These items are in view. */
  readonly show: (first: number, last: number) => void;
  readonly reload: () => void;
  /** Reads the first page once more if it is near the view. */
  readonly refresh: () => void;
}

interface ScrolledOptions<Item> {
  readonly keyOf: (item: Item) => string;
  /** Reads the first page once more after this many ms while it is in view. */
  readonly everyMs?: number;
}

/** Number of items before and after the view that are read in advance. */
const ahead = 100;
/** How long a page is kept that is no longer near the view. */
const keptMs = 20_000;

interface Position {
  /** Identifies the list. */
  readonly list: string;
  readonly extents: readonly Extent[];
  readonly first: number;
  readonly last: number;
}

export function useScrolledList<O extends PagedOperation, Item>(
  operation: O,
  input: Input<O>,
  itemsOf: (page: Answer<O>) => readonly Item[],
  { keyOf, everyMs }: ScrolledOptions<Item>,
): ScrolledList<Item> {
  const { client, key } = useAccess();
  const queries = useQueryClient();
  const list = JSON.stringify([key.id, operation, input]);
  const [stored, setPosition] = useState<Position>(startOf(list));
  const ofThisList = (any: Position): Position => (any.list === list ? any : startOf(list));
  const position = ofThisList(stored);
  const { extents } = position;

  const from = pageAt(extents, position.first - ahead);
  const to = pageAt(extents, position.last + ahead);
  const cursors = Array.from({ length: to - from + 1 }, (_, n) => cursorBefore(extents, from + n));
  const results = useQueries({
    queries: cursors.map((cursor) => {
      const queryKey = [key.id, operation, input, 'scrolled', cursor];
      return {
        queryKey,
        queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
          const page = await requestOf(client, operation, withCursor(input, cursor, signal));
          const fresh = { items: itemsOf(page), next: cursorOf(page) };
          const former = queries.getQueryData<LoadedPage<Item>>(queryKey);
          return cursor === null && former !== undefined ? joined(fresh, former, keyOf) : fresh;
        },
        gcTime: keptMs,
        refetchInterval: cursor === null && everyMs !== undefined ? everyMs : (false as const),
      };
    }),
  });

  useLayoutEffect(() => {
    const pages = results.map(({ data }, n) => ({ data, cursor: cursors[n] ?? null }));
    const found = withPages(extents, from, pages);
    if (found !== extents) setPosition((now) => ({ ...ofThisList(now), extents: found }));
  });

  const count = startOfPage(extents, extents.length);
  return {
    count,
    hasMore: extents.at(-1)?.next !== null,
    isLoading: extents.length === 0,
    error: results.find(({ error }) => error !== null)?.error ?? null,
    at(index) {
      const number = pageAt(extents, index);
      return results[number - from]?.data?.items[index - startOfPage(extents, number)];
    },
    show(first, last) {
      setPosition((now) =>
        now.first === first && now.last === last ? now : { ...ofThisList(now), first, last },
      );
    },
    reload: () => results.forEach(({ refetch }) => void refetch()),
    refresh() {
      if (from === 0) void results[0]?.refetch();
    },
  };
}

/** With the extents of the pages that were read, the first of which has that number. */
function withPages<Item>(
  extents: readonly Extent[],
  first: number,
  pages: readonly { readonly data: LoadedPage<Item> | undefined; readonly cursor: string | null }[],
): readonly Extent[] {
  let found = extents;
  for (const [n, { data, cursor }] of pages.entries()) {
    const number = first + n;
    // A page whose beginning has changed meanwhile is read once more.
    if (data === undefined || cursorBefore(found, number) !== cursor) continue;
    found = withExtent(found, number, { length: data.items.length, next: data.next });
  }
  return found;
}

const startOf = (list: string): Position => ({ list, extents: [], first: 0, last: 0 });
