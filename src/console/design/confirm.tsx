import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Dialog } from './overlay.tsx';
import { FailureNotice, type Failure } from './states.tsx';

interface ConfirmProps {
  readonly title: string;
  /** What it does, and what cannot be undone. */
  readonly children: ComponentChildren;
  /** Text of the button: the verb and the thing. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** A name to be typed before the button can be pressed. */
  readonly typed?: string;
  readonly isBusy: boolean;
  readonly failure: Failure | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** A question before a change that takes something away or has effects outside. */
export function Confirm(props: ConfirmProps): JSX.Element {
  const { title, children, verb, isDangerous = false, typed, isBusy, failure } = props;
  const [text, setText] = useState('');
  return (
    <Dialog title={title} isAlert onClose={props.onClose}>
      <div class="stack">{children}</div>
      {typed !== undefined && (
        <TextField label={`Type ${typed} to confirm`} value={text} onInput={setText} />
      )}
      {failure !== null && <FailureNotice failure={failure} />}
      <div class="row">
        <Button
          tone={isDangerous ? 'danger filled' : 'primary'}
          isBusy={isBusy}
          isDisabled={typed !== undefined && text !== typed}
          onPress={props.onConfirm}
        >
          {verb}
        </Button>
        <Button onPress={props.onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
