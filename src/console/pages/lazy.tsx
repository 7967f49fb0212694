import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureOf } from '../data/failure.ts';
import { ErrorState, SkeletonRows } from '../design/states.tsx';

type State<Props> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly Content: ComponentType<Props> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A component with a script of its own. */
export interface LazyComponent<Props> {
  (props: Props): JSX.Element;
  /** Loads the script before the component is shown. */
  load(): void;
}

const PendingPage = (): JSX.Element => (
  <div class="page">
    <SkeletonRows />
  </div>
);

/**
 * A component whose script is loaded when it is first shown, unless it was before.
 * @param Pending stands in its place meanwhile
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Pending: ComponentType = PendingPage,
): LazyComponent<Props> {
  let loading: Promise<ComponentType<Props>> | null = null;
  const begin = () => (loading ??= load());
  const Lazy = (props: Props): JSX.Element => {
    const [state, setState] = useState<State<Props>>({ kind: 'loading' });
    useEffect(() => {
      begin().then(
        (Content) => setState({ kind: 'loaded', Content }),
        (error: unknown) => {
          loading = null;
          setState({ kind: 'failed', error });
        },
      );
    }, []);
    if (state.kind === 'failed')
      return (
        <div class="page">
          <ErrorState
            failure={failureOf(state.error)}
            onRetry={() => globalThis.location.reload()}
          />
        </div>
      );
    if (state.kind === 'loading') return <Pending />;
    return <state.Content {...props} />;
  };
  // A failure is shown by the component, which begins once more.
  return Object.assign(Lazy, { load: () => void begin().catch(() => (loading = null)) });
}
