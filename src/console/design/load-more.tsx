import type { JSX } from 'preact';
import { Button } from './button.tsx';

interface LoadMoreProps {
  readonly shown: number;
  /** Null when the API does not count. */
  readonly total?: number | null;
  readonly hasMore: boolean;
  readonly isBusy: boolean;
  readonly onMore: () => void;
}

/** The end of a list that is read page by page. */
export function LoadMore({
  shown,
  total = null,
  hasMore,
  isBusy,
  onMore,
}: LoadMoreProps): JSX.Element {
  return (
    <div class="row spread">
      <span class="muted number">
        {shown.toLocaleString('en')}
        {total === null ? '' : ` of ${total.toLocaleString('en')}`} shown
      </span>
      {hasMore && (
        <Button isBusy={isBusy} onPress={onMore}>
          Load more
        </Button>
      )}
    </div>
  );
}
