import type { ComponentChildren, JSX } from 'preact';
import { failureOf } from '../data/failure.ts';
import { Confirm } from '../design/confirm.tsx';

interface ConfirmChangeProps {
  readonly change: {
    readonly isPending: boolean;
    readonly error: Error | null;
    mutate(): void;
  };
  readonly title: string;
  /** What it does, and what cannot be undone. */
  readonly children: ComponentChildren;
  /** Text of the button: the verb and the thing. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** A name to be typed before the button can be pressed. */
  readonly typed?: string;
  readonly onClose: () => void;
}

/** A question before a change, which shows why the service refused it. */
export const ConfirmChange = ({ change, ...rest }: ConfirmChangeProps): JSX.Element => (
  <Confirm
    {...rest}
    isBusy={change.isPending}
    failure={change.error === null ? null : failureOf(change.error)}
    onConfirm={() => change.mutate()}
  />
);
