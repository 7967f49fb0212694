import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiKey } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { keyColumns, KeySecret } from '../environments/keys.tsx';

/** The keys that manage environments, projections and the audit log. */
export function AccountKeys(): JSX.Element {
  const { can, key } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const query = useRead('GET /account/api-keys', {});
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
          <Table
            label="Account keys"
            columns={columnsOf(can('account:api_keys:delete'), key.id)}
            rows={data}
            keyOf={({ id }) => id}
          />
        )}
      </LoadedState>
      {isAdding && <KeyForm onSecret={setSecret} onClose={() => setAdding(false)} />}
      {secret !== null && <KeySecret secret={secret} isShownOnce onClose={() => setSecret(null)} />}
    </Page>
  );
}

/** The key that the console acts with is not deleted by itself. */
const columnsOf = (canDelete: boolean, ownId: string): readonly Column<ApiKey>[] => [
  ...keyColumns,
  {
    title: '',
    fit: 'tight',
    cell: (row) =>
      row.id === ownId ? (
        <span class="muted">in use here</span>
      ) : (
        canDelete && <DeleteButton row={row} />
      ),
  },
];

function DeleteButton({ row }: { readonly row: ApiKey }): JSX.Element {
  const { id, display_name: name } = row;
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) => client.request('DELETE /account/api-keys', { body: { key_id: id } }),
    { done: `${name} was deleted`, onDone: () => setOpen(false), showsFailure: true },
  );
  return (
    <>
      <IconButton icon="close" label={`Delete ${name}…`} isSmall onPress={() => setOpen(true)} />
      {isOpen && (
        <ConfirmChange
          title={`Delete the key ${name}?`}
          verb="Delete the key"
          isDangerous
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>It stops working at once, and sessions of the console lose it.</p>
        </ConfirmChange>
      )}
    </>
  );
}

interface KeyFormProps {
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

function KeyForm({ onSecret, onClose }: KeyFormProps): JSX.Element {
  const [name, setName] = useState('');
  const create = useChange(
    (client) => client.request('POST /account/api-keys', { body: { display_name: name } }),
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
      </ChangeForm>
    </Dialog>
  );
}
