import type { ComponentChildren, JSX } from 'preact';
import { Button } from './button.tsx';
import { Code } from './code.tsx';
import { Icon } from './icon.tsx';

interface EmptyProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The command of the next step. */
  readonly command?: string;
  readonly action?: ComponentChildren;
}

export function Empty({ title, children, command, action }: EmptyProps): JSX.Element {
  return (
    <div class="card state">
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {command !== undefined && (
        <>
          <p class="muted">In the folder of your functions:</p>
          <Code text={command} label="Command" />
        </>
      )}
      {action}
    </div>
  );
}

/** Rows of a list that is not here yet. */
export function SkeletonRows({ count = 6 }: { readonly count?: number }): JSX.Element {
  return (
    <div class="skeleton-rows" role="status" aria-label="Loading">
      {Array.from({ length: count }, (_, index) => (
        <span key={index} class="skeleton" />
      ))}
    </div>
  );
}

/** A refusal of the API, or why it could not be reached. */
export interface Failure {
  readonly message: string;
  readonly code: string | null;
  readonly fix: string | null;
  readonly requestId: string | null;
}

interface ErrorStateProps {
  readonly failure: Failure;
  readonly onRetry?: () => void;
}

export function ErrorState({ failure, onRetry }: ErrorStateProps): JSX.Element {
  return (
    <div class="card padded stack" role="alert">
      <FailureNotice failure={failure} />
      {onRetry !== undefined && (
        <div>
          <Button icon="refresh" onPress={onRetry}>
            Try again
          </Button>
        </div>
      )}
    </div>
  );
}

export function FailureNotice({ failure }: { readonly failure: Failure }): JSX.Element {
  const { message, code, fix, requestId } = failure;
  return (
    <div class="notice bad">
      <Icon name="alert" />
      <div class="grow">
        <p>{message}</p>
        {fix !== null && <p>{fix}</p>}
        {(code !== null || requestId !== null) && (
          <p class="mono">
            {[code, requestId && `request ${requestId}`].filter(Boolean).join(' · ')}
          </p>
        )}
      </div>
    </div>
  );
}

interface NoticeProps {
  readonly tone?: 'info' | 'good' | 'warn' | 'bad';
  readonly children: ComponentChildren;
}

export function Notice({ tone = 'info', children }: NoticeProps): JSX.Element {
  return (
    <div class={`notice ${tone}`}>
      <Icon name={tone === 'info' ? 'info' : tone === 'good' ? 'check' : 'alert'} />
      <div class="grow">{children}</div>
    </div>
  );
}
