import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { ExpiryField, expiryOf, noExpiry } from '../environments/create-key.tsx';
import {
  DeleteKey,
  ExpiryNotice,
  keyColumns,
  KeySecret,
  rotationLabel,
} from '../environments/keys.tsx';
import { RotateKey } from '../environments/rotate-key.tsx';

/** The keys that manage environments, projections and the audit log. */
export function AccountKeys(): JSX.Element {
  const { can, key } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead('GET /account/api-keys', {}, { everyMs: 15_000 });
  return (
    <Page
      title="Account keys"
      about="They manage environments and their keys, projections and the audit log."
      actions={
        can('account:api_keys:create') && (
          <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
            Create a key
          </Button>
        )
      }
    >
      <LoadedState query={query}>
        {({ data }) => (
          <>
            <ExpiryNotice keys={data} />
            <Table
              label="Account keys"
              columns={columnsOf(key.id)}
              rows={data}
              keyOf={({ id }) => id}
            />
          </>
        )}
      </LoadedState>
      {isAdding && <KeyForm onSecret={setSecret} onClose={() => setAdding(false)} />}
      {secret !== null && <KeySecret secret={secret} isShownOnce onClose={() => setSecret(null)} />}
    </Page>
  );
}

const columnsOf = (ownId: string): readonly Column<ApiKey>[] => [
  ...keyColumns,
  { title: '', fit: 'tight', cell: (row) => <KeyMenu row={row} isOwn={row.id === ownId} /> },
];

interface KeyMenuProps {
  readonly row: ApiKey;
  /** Whether the console acts with it: a key does not delete itself. */
  readonly isOwn: boolean;
}

function KeyMenu({ row, isOwn }: KeyMenuProps): JSX.Element {
  const { can } = useAccess();
  const { id, display_name: name } = row;
  const [open, setOpen] = useState<'rotation' | 'deletion' | null>(null);
  const close = (): void => setOpen(null);
  const remove = useChange(
    (client) => client.request('DELETE /account/api-keys', { body: { key_id: id } }),
    { done: `${name} was deleted`, onDone: close, showsFailure: true },
  );
  return (
    <>
      <Menu
        label={`Actions of ${name}`}
        icon="more"
        isIconOnly
        items={[
          {
            id: 'rotate',
            label: rotationLabel(row),
            icon: 'refresh',
            isDisabled: !can('account:api_keys:rotate'),
            onSelect: () => setOpen('rotation'),
          },
          {
            id: 'delete',
            label: isOwn ? 'Delete: with another key, this one is in use here' : 'Delete…',
            icon: 'trash',
            isDangerous: true,
            isDisabled: isOwn || !can('account:api_keys:delete'),
            onSelect: () => setOpen('deletion'),
          },
        ]}
      />
      {open === 'rotation' && <RotateKey owner="account" row={row} onClose={close} />}
      {open === 'deletion' && <DeleteKey row={row} change={remove} onClose={close} />}
    </>
  );
}

interface KeyFormProps {
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

function KeyForm({ onSecret, onClose }: KeyFormProps): JSX.Element {
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState(noExpiry);
  const create = useChange(
    (client) =>
      client.request('POST /account/api-keys', {
        body: { display_name: name, ...expiryOf(expiry) },
      }),
    {
      showsFailure: true,
      onDone: ({ data }) => {
        onClose();
        onSecret(data.secret);
      },
    },
  );
  return (
    <Dialog title="Create an account key" onClose={onClose}>
      <ChangeForm change={create} verb="Create the key">
        <TextField label="Name" value={name} isRequired onInput={setName} />
        <ExpiryField expiry={expiry} onChange={setExpiry} />
      </ChangeForm>
    </Dialog>
  );
}
