import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/preact-query';
import { useRef, useEffect, useState } from 'preact/hooks';
import type {
  Answer,
  Arguments,
  Client,
  Input,
  Operation,
  PagedOperation,
  EventOperation,
} from '#client/index.ts';
import { toast } from '../design/toast.tsx';
import { useAccess } from '../session/context.tsx';
import { failureOf } from './failure.ts';

interface ReadOptions {
  /** Reads once more after this many ms while the page is visible. */
  readonly everyMs?: number | false;
  readonly isEnabled?: boolean;
}

/** The response of an operation, cached by its input. */
export function useRead<O extends Operation>(
  operation: O,
  input: Input<O>,
  { everyMs = false, isEnabled = true }: ReadOptions = {},
): UseQueryResult<Answer<O>> {
  const { client, key } = useAccess();
  return useQuery<Answer<O>>({
    queryKey: [key.id, operation, input],
    queryFn: ({ signal }) => requestOf(client, operation, { ...input, signal }),
    refetchInterval: everyMs,
    enabled: isEnabled,
  });
}

/** The client decides from the operation whether it needs an input, which a generic function cannot. */
export function requestOf<O extends Operation>(
  client: Client,
  operation: O,
  input: Input<O>,
): Promise<Answer<O>> {
  const rest = [input] as unknown as Arguments<O>;
  return client.request(operation, ...rest);
}

type PageOf<O extends PagedOperation> = Answer<O>;

export interface List<Item> {
  readonly items: readonly Item[];
  readonly isLoading: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

/** The items of a list that is read page by page with a cursor. */
export function useList<O extends PagedOperation, Item>(
  operation: O,
  input: Input<O>,
  itemsOf: (page: PageOf<O>) => readonly Item[],
  options: ReadOptions = {},
): List<Item> {
  const { client, key } = useAccess();
  const list = useInfiniteQuery({
    queryKey: [key.id, operation, input, 'pages'],
    queryFn: ({ signal, pageParam }) =>
      requestOf(client, operation, withCursor(input, pageParam, signal)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => cursorOf(page),
    refetchInterval: options.everyMs ?? false,
    enabled: options.isEnabled ?? true,
  });
  return {
    items: list.data?.pages.flatMap((page) => itemsOf(page)) ?? [],
    isLoading: list.isPending,
    error: list.error,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadMore: () => void list.fetchNextPage(),
    reload: () => void list.refetch(),
  };
}

/** The input of the page at the cursor; of the first page at null. */
export function withCursor<O extends PagedOperation>(
  input: Input<O>,
  cursor: string | null,
  signal: AbortSignal,
): Input<O> {
  if (cursor === null) return { ...input, signal };
  const { query }: { query?: object } = input as { query?: object };
  return { ...input, query: { ...query, cursor }, signal };
}

/** The cursor of the next page; null after the last one. */
export function cursorOf(page: Answer<PagedOperation>): string | null {
  return 'next_cursor' in page ? page.next_cursor : page.pagination.cursor;
}

/**
 * A change of something. A success is shown as a toast and everything that is on the page is read again; a failure is
 * left to the caller when it shows it, and is a toast otherwise.
 */
export function useChange<Input_ = void, Result = unknown>(
  change: (client: Client, input: Input_) => Promise<Result>,
  options: {
    readonly done?: string | ((result: Result) => string);
    readonly onDone?: (result: Result) => void;
    readonly showsFailure?: boolean;
  } = {},
): UseMutationResult<Result, Error, Input_> {
  const { client } = useAccess();
  const queries = useQueryClient();
  // The mutation learns of a rendering after the next frame: Enter right after a key press would send the value before it.
  const latest = useRef(change);
  latest.current = change;
  return useMutation<Result, Error, Input_>({
    mutationFn: (input) => latest.current(client, input),
    onSuccess: (result) => {
      const { done, onDone } = options;
      if (done !== undefined) toast(typeof done === 'string' ? done : done(result));
      onDone?.(result);
      // A page that this leaves is unmounted first: it would read what has just been deleted.
      setTimeout(() => void queries.invalidateQueries());
    },
    onError: (error) => {
      if (options.showsFailure !== true) toast(failureOf(error).message, 'bad');
    },
  });
}

/** Between an event and what it calls: the tables follow the log. */
const settleMs = 1_000;
/** From the last event to one more call, for what the tables had not reached before. */
const lateMs = 5_000;

/**
 * Calls back after events of a stream, at most once a second, and some seconds after the last, while the page is visible: a
 * hidden one would keep one of the few connections that a browser has for a host.
 * @returns false once the service has refused the stream
 */
export function useStream<O extends EventOperation>(
  operation: O,
  input: Input<O>,
  onEvents: () => void,
): boolean {
  const { client } = useAccess();
  const isVisible = useVisibility();
  const [isRefused, setRefused] = useState(false);
  const latest = useRef(onEvents);
  latest.current = onEvents;
  const text = JSON.stringify(input);
  useEffect(() => {
    // A new client acts for a new session, which may follow again.
    setRefused(false);
    if (!isVisible) return undefined;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let late: ReturnType<typeof setTimeout> | undefined;
    const follow = async (): Promise<void> => {
      const sent = { ...(JSON.parse(text) as Input<O>), signal: stop.signal };
      for await (const _event of client.events(operation, sent)) {
        timer ??= setTimeout(() => {
          timer = undefined;
          latest.current();
        }, settleMs);
        clearTimeout(late);
        late = setTimeout(() => latest.current(), lateMs);
      }
    };
    follow().catch(() => {
      if (!stop.signal.aborted) setRefused(true);
    });
    return () => {
      stop.abort();
      clearTimeout(timer);
      clearTimeout(late);
    };
  }, [client, operation, text, isVisible]);
  return !isRefused;
}

function useVisibility(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const update = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', update);
    return () => document.removeEventListener('visibilitychange', update);
  }, []);
  return isVisible;
}
