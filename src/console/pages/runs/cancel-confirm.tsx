import type { JSX } from 'preact';
import { ConfirmChange } from '../../shell/confirm-change.tsx';

interface CancelConfirmProps {
  readonly cancel: {
    readonly isPending: boolean;
    readonly error: Error | null;
    mutate(): void;
  };
  readonly onClose: () => void;
}

export const CancelConfirm = ({ cancel, onClose }: CancelConfirmProps): JSX.Element => (
  <ConfirmChange
    title="Cancel the run?"
    verb="Cancel the run"
    isDangerous
    change={cancel}
    onClose={onClose}
  >
    <p>
      It stops where it is, and what it has not written yet is lost. What it wrote stays, and the
      next run of a sync goes on from its last checkpoint.
    </p>
  </ConfirmChange>
);
