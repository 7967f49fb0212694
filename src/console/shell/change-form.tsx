import type { ComponentChildren, JSX } from 'preact';
import { failureOf } from '../data/failure.ts';
import { Button } from '../design/button.tsx';
import type { IconName } from '../design/icon.tsx';
import { FailureNotice, Notice } from '../design/states.tsx';

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
  /** What the fields show of a refusal, by path. */
  readonly problems?: ReadonlyMap<string, string>;
  /** What came of it, below the button. */
  readonly outcome?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Fields, why the service refused them, and the button that sends them. */
export function ChangeForm(props: ChangeFormProps): JSX.Element {
  const { change, verb, icon, isCard = false, problems, outcome, children } = props;
  return (
    <form
      class={isCard ? 'card padded stack' : 'stack'}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      {children}
      <Refusal error={change.error} problems={problems} />
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

interface RefusalProps {
  readonly error: Error | null;
  readonly problems?: ReadonlyMap<string, string> | undefined;
}

/** Why nothing was changed, unless fields say it. */
export function Refusal({ error, problems }: RefusalProps): JSX.Element | null {
  if (problems !== undefined && problems.size > 0)
    return (
      <div role="alert">
        <Notice tone="bad">Nothing was saved yet: correct the marked fields.</Notice>
      </div>
    );
  return error === null ? null : <FailureNotice failure={failureOf(error)} />;
}
