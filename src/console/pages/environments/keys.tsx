import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';

interface KeysProps {
  readonly environmentId: number;
}

export function Keys({ environmentId }: KeysProps): JSX.Element {
  const { can } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead('GET /environment/api-keys', { query: { environment_id: environmentId } });
  return (
    <div class="stack">
      {can('account:environments:api_keys:create') && (
        <div>
          <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
            Create a key
          </Button>
        </div>
      )}
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Keys"
            columns={columnsOf(environmentId, setSecret)}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </LoadedState>
      {isAdding && (
        <KeyForm
          environmentId={environmentId}
          onSecret={setSecret}
          onClose={() => setAdding(false)}
        />
      )}
      {secret !== null && <KeySecret secret={secret} onClose={() => setSecret(null)} />}
    </div>
  );
}

const columnsOf = (
  environmentId: number,
  showSecret: (secret: string) => void,
): readonly Column<ApiKey>[] => [
  ...keyColumns,
  {
    title: '',
    fit: 'tight',
    cell: (row) => <KeyMenu environmentId={environmentId} row={row} showSecret={showSecret} />,
  },
];

interface KeyMenuProps extends KeysProps {
  readonly row: ApiKey;
  readonly showSecret: (secret: string) => void;
}

function KeyMenu({ environmentId, row, showSecret }: KeyMenuProps): JSX.Element {
  const { can } = useAccess();
  const [isDeleting, setDeleting] = useState(false);
  const { id, display_name: name } = row;
  const reveal = useChange(
    (client) => client.request('POST /environment/api-keys/{id}/reveal', { params: { id } }),
    { onDone: ({ data }) => showSecret(data.secret) },
  );
  const remove = useChange(
    (client) =>
      client.request('DELETE /environment/api-keys', {
        body: { environment_id: environmentId, key_id: id },
      }),
    { done: `${name} was deleted`, onDone: () => setDeleting(false), showsFailure: true },
  );
  return (
    <>
      <Menu
        label={`Actions of ${name}`}
        icon="more"
        isIconOnly
        items={[
          {
            id: 'reveal',
            label: 'Reveal (audited)',
            icon: 'key',
            isDisabled: !can('account:environments:api_keys:reveal'),
            onSelect: () => reveal.mutate(),
          },
          {
            id: 'delete',
            label: 'Delete…',
            icon: 'close',
            isDangerous: true,
            isDisabled: !can('account:environments:api_keys:delete'),
            onSelect: () => setDeleting(true),
          },
        ]}
      />
      {isDeleting && (
        <ConfirmChange
          title={`Delete the key ${name}?`}
          verb="Delete the key"
          isDangerous
          change={remove}
          onClose={() => setDeleting(false)}
        >
          <p>It stops working at once, and sessions of the console lose it.</p>
        </ConfirmChange>
      )}
    </>
  );
}

const profiles = [
  { value: '', label: 'Full access' },
  { value: 'auth', label: 'auth: create connect sessions' },
  { value: 'deploy', label: 'deploy: deploy functions' },
  { value: 'backend', label: 'backend: read and run' },
] as const;

interface KeyFormProps extends KeysProps {
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

function KeyForm({ environmentId, onSecret, onClose }: KeyFormProps): JSX.Element {
  const [name, setName] = useState('');
  const [profile, setProfile] = useState('');
  const [scopes, setScopes] = useState('');
  const create = useChange(
    (client) => {
      const named = (['auth', 'deploy', 'backend'] as const).find((one) => one === profile);
      const list = scopes.split(/[\s,]+/).filter((scope) => scope !== '');
      const access =
        list.length > 0 ? { scopes: list } : named === undefined ? {} : { profile: named };
      return client.request('POST /environment/api-keys', {
        body: { environment_id: environmentId, display_name: name, ...access },
      });
    },
    {
      showsFailure: true,
      onDone: ({ data }) => {
        onClose();
        onSecret(data.secret);
      },
    },
  );
  return (
    <Dialog title="Create a key" onClose={onClose}>
      <ChangeForm change={create} verb="Create the key">
        <TextField label="Name" value={name} isRequired onInput={setName} />
        <Select label="Profile" value={profile} choices={profiles} onChange={setProfile} />
        <TextField
          label="Scopes"
          hint="Single scopes instead of a profile, such as environment:records:read"
          value={scopes}
          onInput={setScopes}
        />
      </ChangeForm>
    </Dialog>
  );
}

/** What is shown of a key of an environment or of the account. */
export const keyColumns: readonly Column<ApiKey>[] = [
  { title: 'Name', cell: ({ display_name: name }) => <Clip text={name} /> },
  { title: 'Key', narrow: 'below', cell: ({ secret }) => <Clip text={secret} isMono /> },
  {
    title: 'Scopes',
    cell: ({ scopes }) => <Clip text={scopes.join(', ')} />,
  },
  { title: 'Last used', fit: 'tight', cell: ({ last_used_at: at }) => <Time at={at} /> },
  {
    title: 'Created',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
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
      Anyone with this key can act as you. Keep it out of sources and chats.
      {isShownOnce && ' It is not shown again: copy it now.'}
    </Notice>
    <div class="row">
      <code class="grow secret">{secret}</code>
      <CopyButton text={secret} label="Copy the key" />
    </div>
  </Dialog>
);
