import type { ComponentChildren, JSX } from 'preact';
import { failureOf } from '../data/failure.ts';
import { Button } from '../design/button.tsx';
import type { IconName } from '../design/icon.tsx';
import { FailureNotice } from '../design/states.tsx';

interface ChangeFormProps {
  readonly change: {
    readonly isPending: boolean;
    readonly error: Error | null;
    mutate(): void;
  };
  /** What the button says. */
  readonly verb: string;
  readonly icon?: IconName;
  /** On a page, not in a dialog. */
  readonly isCard?: boolean;
  /** What came of it, below the button. */
  readonly outcome?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields, why the service refused them, and the button that sends them. */
export function ChangeForm(props: ChangeFormProps): JSX.Element {
  const { change, verb, icon, isCard = false, outcome, children } = props;
  return (
    <form
      class={isCard ? 'card padded stack' : 'stack'}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      {children}
      {change.error !== null && <FailureNotice failure={failureOf(change.error)} />}
      <div>
        <Button
          type="submit"
          tone="primary"
          isBusy={change.isPending}
          {...(icon === undefined ? {} : { icon })}
        >
          {verb}
        </Button>
      </div>
      {outcome}
    </form>
  );
}
