import type { JSX } from 'preact';
import type { ApiKey } from '#client/index.ts';
import { CopyButton } from '../../design/copy-button.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import type { Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';

/** What is shown of a key of an environment or of the account. */
export const keyColumns: readonly Column<ApiKey>[] = [
  { title: 'Name', cell: ({ display_name: name }) => <span class="clip">{name}</span> },
  { title: 'Key', cell: ({ secret }) => <span class="clip mono">{secret}</span> },
  {
    title: 'Scopes',
    cell: ({ scopes }) => (
      <span class="clip" title={scopes.join(', ')}>
        {scopes.join(', ')}
      </span>
    ),
  },
  { title: 'Last used', fit: 'tight', cell: ({ last_used_at: at }) => <Time at={at} /> },
  { title: 'Created', fit: 'tight', cell: ({ created_at: at }) => <Time at={at} /> },
];

interface KeySecretProps {
  readonly secret: string;
  /** Whether the service shows the secret again. */
  readonly isShownOnce?: boolean;
  readonly onClose: () => void;
}

export const KeySecret = ({
  secret,
  isShownOnce = false,
  onClose,
}: KeySecretProps): JSX.Element => (
  <Dialog title="Secret of the key" onClose={onClose}>
    <Notice tone="warn">
      Whoever has this key acts as you. Keep it out of sources and chats.
      {isShownOnce && ' It is not shown again: copy it now.'}
    </Notice>
    <div class="row">
      <code class="grow secret">{secret}</code>
      <CopyButton text={secret} label="Copy the key" />
    </div>
  </Dialog>
);
