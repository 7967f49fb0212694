import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { failureOf } from '../data/failure.ts';
import { ErrorState, SkeletonRows } from '../design/states.tsx';

type State<Props> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'loaded'; readonly Content: ComponentType<Props> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** A component whose script is loaded when it is first shown. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): (props: Props) => JSX.Element {
  let loading: Promise<ComponentType<Props>> | null = null;
  return function Lazy(props: Props): JSX.Element {
    const [state, setState] = useState<State<Props>>({ kind: 'loading' });
    useEffect(() => {
      loading ??= load();
      loading.then(
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
    if (state.kind === 'loading')
      return (
        <div class="page">
          <SkeletonRows />
        </div>
      );
    return <state.Content {...props} />;
  };
}
