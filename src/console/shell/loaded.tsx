import type { ComponentChildren, JSX } from 'preact';
import { counted } from '#kernel/counted.ts';
import { failureOf } from '../data/failure.ts';
import type { ScrolledList } from '../data/scrolled-list.ts';
import { LoadMore } from '../design/load-more.tsx';
import { ErrorState, SkeletonRows } from '../design/states.tsx';

interface QueryState {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly refetch: () => unknown;
}

interface LoadedStateProps<T> {
  readonly query: QueryState & { readonly data: T | undefined };
  readonly children: (data: T) => ComponentChildren;
}

/** What was read, or its skeleton, or why it could not be read. A later failure leaves what is shown. */
export function LoadedState<T>({ query, children }: LoadedStateProps<T>): JSX.Element {
  const { data, error } = query;
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== null)
    return <ErrorState failure={failureOf(error)} onRetry={() => void query.refetch()} />;
  return <SkeletonRows />;
}

interface ListStateProps {
  readonly list: {
    readonly items: readonly unknown[];
    /** Null or absent: not known. */
    readonly total?: number | null;
    readonly isLoading: boolean;
    readonly hasMore: boolean;
    readonly isLoadingMore: boolean;
    readonly error: unknown;
    reload(): void;
    loadMore(): void;
  };
  /** In place of a list without items. */
  readonly empty: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The items read so far and how to read more, or why there are none. */
export function ListState({ list, empty, children }: ListStateProps): JSX.Element {
  if (list.items.length > 0)
    return (
      <>
        {children}
        <LoadMore
          shown={list.items.length}
          total={list.total ?? null}
          hasMore={list.hasMore}
          isBusy={list.isLoadingMore}
          onMore={() => list.loadMore()}
        />
      </>
    );
  if (list.error !== null)
    return <ErrorState failure={failureOf(list.error)} onRetry={() => list.reload()} />;
  return list.isLoading ? <SkeletonRows /> : <>{empty}</>;
}

interface ScrolledStateProps<Item> {
  readonly list: ScrolledList<Item>;
  /** What an item is. */
  readonly noun: string;
  /** In place of a list without items. */
  readonly empty: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A list that is read while it is scrolled, and how many items that were so far, or why there are none. */
export function ScrolledState<Item>(props: ScrolledStateProps<Item>): JSX.Element {
  const { list, noun, empty, children } = props;
  const failure = list.error !== null && (
    <ErrorState failure={failureOf(list.error)} onRetry={() => list.reload()} />
  );
  if (list.count > 0)
    return (
      <div class="stack">
        {children}
        {failure}
        <span class="muted number">
          {counted(list.count, noun)}
          {list.hasMore && ' so far; scroll for more'}
        </span>
      </div>
    );
  if (failure !== false) return failure;
  return list.isLoading ? <SkeletonRows /> : <>{empty}</>;
}
