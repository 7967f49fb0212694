import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SavedQuery } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';

interface SavedQueriesProps {
  /** Of the editor. */
  readonly text: string;
  readonly onChoose: (query: string) => void;
}

/** The saved queries of the environment: one is chosen, saved or deleted. The address names the chosen one. */
export function SavedQueries({ text, onChoose }: SavedQueriesProps): JSX.Element {
  const { can } = useAccess();
  const filters = useUrlState();
  const { data } = useRead('GET /sql/queries', {});
  const all = data?.data ?? [];
  const chosen = all.find(({ name }) => name === filters.get('query'));
  useEffect(() => {
    // A link to a query opens it; what was written meanwhile stays.
    if (chosen !== undefined && text === '') onChoose(chosen.query);
  }, [chosen?.name]);
  return (
    <div class="row saved">
      <Select
        label="Saved query"
        hint={chosen?.description || undefined}
        value={chosen?.name ?? ''}
        choices={[
          { value: '', label: all.length === 0 ? 'None yet' : 'None' },
          ...all.map(({ name }) => ({ value: name, label: name })),
        ]}
        onChange={(name) => {
          filters.set({ query: name });
          const query = all.find((one) => one.name === name)?.query;
          if (query !== undefined) onChoose(query);
        }}
      />
      {can('environment:sql:write') && <SaveQuery text={text} all={all} chosen={chosen} />}
      {can('environment:sql:write') && chosen !== undefined && <DeleteQuery name={chosen.name} />}
    </div>
  );
}

interface SaveQueryProps {
  readonly text: string;
  readonly all: readonly SavedQuery[];
  readonly chosen: SavedQuery | undefined;
}

function SaveQuery({ text, all, chosen }: SaveQueryProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const isChanged = chosen === undefined || chosen.query !== text;
  return (
    <>
      <Button isDisabled={text.trim() === '' || !isChanged} onPress={() => setOpen(true)}>
        Save…
      </Button>
      {isOpen && <SaveForm text={text} all={all} chosen={chosen} onClose={() => setOpen(false)} />}
    </>
  );
}

function SaveForm(props: SaveQueryProps & { readonly onClose: () => void }): JSX.Element {
  const { text: query, all, chosen, onClose } = props;
  const filters = useUrlState();
  const [name, setName] = useState(chosen?.name ?? '');
  const [description, setDescription] = useState(chosen?.description ?? '');
  const save = useChange(
    (client) =>
      client.request('PUT /sql/queries/{name}', { params: { name }, body: { query, description } }),
    {
      done: `The query ${name} was saved`,
      onDone: () => {
        filters.set({ query: name });
        onClose();
      },
      showsFailure: true,
    },
  );
  const isTaken = all.some((one) => one.name === name);
  return (
    <Dialog title="Save the query" onClose={onClose}>
      <ChangeForm change={save} verb={isTaken ? 'Replace the query' : 'Save the query'}>
        <TextField
          label="Name"
          hint={isTaken ? 'The saved query of this name is replaced.' : 'Such as Failed runs'}
          value={name}
          isRequired
          onInput={setName}
        />
        <TextField
          label="What it answers"
          hint="Everyone who may query the environment sees it: no secrets"
          value={description}
          onInput={setDescription}
        />
      </ChangeForm>
    </Dialog>
  );
}

function DeleteQuery({ name }: { readonly name: string }): JSX.Element {
  const filters = useUrlState();
  const [isOpen, setOpen] = useState(false);
  const remove = useChange(
    (client) => client.request('DELETE /sql/queries/{name}', { params: { name } }),
    {
      done: `The query ${name} was deleted`,
      onDone: () => {
        filters.set({ query: '' });
        setOpen(false);
      },
      showsFailure: true,
    },
  );
  return (
    <>
      <IconButton icon="trash" label={`Delete the query ${name}…`} onPress={() => setOpen(true)} />
      {isOpen && (
        <ConfirmChange
          title={`Delete the query ${name}?`}
          verb="Delete the query"
          isDangerous
          change={remove}
          onClose={() => setOpen(false)}
        >
          <p>
            Everyone who may query the environment loses it. Its text stays in your editor, and can
            be saved again.
          </p>
        </ConfirmChange>
      )}
    </>
  );
}
