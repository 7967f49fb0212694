import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Variable } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function Variables(): JSX.Element {
  const { can } = useAccess();
  const [isAdding, setAdding] = useState(false);
  const sort = useSort();
  const query = useRead('GET /environment-variables', {});
  const canChange = can('environment:variables:write');
  return (
    <Page
      title="Variables"
      about="Values that functions of this environment read."
      actions={
        canChange && (
          <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
            Set a variable
          </Button>
        )
      }
    >
      <LoadedState query={query}>
        {(variables) =>
          variables.length === 0 ? (
            <Empty title="No variables">Functions read them with getEnvironmentVariables().</Empty>
          ) : (
            <Table
              label="Variables"
              columns={columnsOf(canChange)}
              rows={variables}
              sort={sort}
              keyOf={({ name }) => name}
            />
          )
        }
      </LoadedState>
      {isAdding && <VariableForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

const columnsOf = (canChange: boolean): readonly Column<Variable>[] => [
  { title: 'Name', sortBy: ({ name }) => name, cell: ({ name }) => <Clip text={name} isMono /> },
  { title: 'Value', cell: (variable) => <Value variable={variable} /> },
  ...(canChange
    ? [
        {
          title: '',
          fit: 'tight' as const,
          cell: ({ name }: Variable) => <RemoveButton name={name} />,
        },
      ]
    : []),
];

/** Hidden until it is asked for: it may be a secret. */
function Value({ variable: { name, value } }: { readonly variable: Variable }): JSX.Element {
  const [isShown, setShown] = useState(false);
  return (
    <span class="row">
      <span class="clip mono grow" title={isShown ? value : undefined}>
        {isShown ? value : '••••••••'}
      </span>
      <Button tone="quiet" isSmall title={`Value of ${name}`} onPress={() => setShown(!isShown)}>
        {isShown ? 'Hide' : 'Show'}
      </Button>
    </span>
  );
}

function RemoveButton({ name }: { readonly name: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const remove = useChange(
    (client) => client.request('DELETE /environment-variables/{name}', { params: { name } }),
    { done: `${name} was removed`, onDone: close, showsFailure: true },
  );
  return (
    <>
      <IconButton icon="trash" label={`Remove ${name}…`} isSmall onPress={() => setOpen(true)} />
      {isOpen && (
        <ConfirmChange
          title={`Remove the variable ${name}?`}
          verb="Remove the variable"
          isDangerous
          change={remove}
          onClose={close}
        >
          <p>
            Its value is lost, and functions that read it get nothing from their next run on. Other
            variables stay.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}

function VariableForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const save = useChange(
    (client) =>
      client.request('PUT /environment-variables/{name}', { params: { name }, body: { value } }),
    { done: `${name} was set`, onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Set a variable" onClose={onClose}>
      <ChangeForm change={save} verb="Set the variable">
        <TextField label="Name" value={name} isRequired onInput={setName} />
        <TextField label="Value" value={value} isRequired onInput={setValue} />
      </ChangeForm>
    </Dialog>
  );
}
