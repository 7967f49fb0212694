import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useForgetName } from '../../data/connection-names.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { FailureNotice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { type ConnectionName, useConnection, type ShownConnection } from './use-connection.ts';
import { useSyncs } from './use-syncs.ts';

export function ConnectionSettings({ name }: { readonly name: ConnectionName }): JSX.Element {
  const { can } = useAccess();
  const query = useConnection(name);
  return (
    <LoadedState query={query}>
      {(connection) => (
        <div class="stack">
          {can('environment:connections:update') ? (
            <Editors name={name} connection={connection} />
          ) : (
            <Json label="Metadata" value={connection.metadata} />
          )}
          <h2>Connection configuration</h2>
          <Json label="Connection configuration" value={connection.connection_config} />
          {can('environment:connections:delete') && <Deletion name={name} />}
        </div>
      )}
    </LoadedState>
  );
}

interface EditorsProps {
  readonly name: ConnectionName;
  readonly connection: ShownConnection;
}

function Editors({ name, connection }: EditorsProps): JSX.Element {
  const { integration, connection: id } = name;
  return (
    <>
      <NameEditor name={name} connection={connection} />
      <JsonEditor
        label="Metadata"
        hint="Replaces the whole metadata; functions read it."
        value={connection.metadata}
        save={(client, metadata) =>
          client.request('POST /connections/metadata', {
            body: { provider_config_key: integration, connection_id: id, metadata },
          })
        }
      />
      <JsonEditor
        label="Tags"
        hint="A text for each name, as JSON. Connections can be found by them."
        value={connection.tags}
        save={(client, tags) =>
          client.request('PATCH /connections/{connectionId}', {
            params: { connectionId: id },
            query: { provider_config_key: integration },
            body: { tags: textsOf(tags) },
          })
        }
      />
    </>
  );
}

/** The name of the end user, by which the console calls the connection. The API takes the whole end user. */
function NameEditor({ name: { integration, connection: id }, connection }: EditorsProps) {
  const user = connection.end_user;
  const saved = user?.display_name ?? '';
  const [text, setText] = useState(saved);
  const forget = useForgetName();
  const save = useChange(
    (client) => {
      const { email = null, organization = null, tags = {} } = user ?? {};
      return client.request('PATCH /connections/{connectionId}', {
        params: { connectionId: id },
        query: { provider_config_key: integration },
        body: {
          end_user: {
            id: user?.id ?? id,
            tags,
            ...(email === null ? {} : { email }),
            ...(text === '' ? {} : { display_name: text }),
          },
          ...(organization === null
            ? {}
            : { organization: { id: organization.id, ...namedOrganization(organization) } }),
        },
      });
    },
    { done: 'The name was saved', showsFailure: true, onDone: () => forget(integration, id) },
  );
  return (
    <ChangeForm change={save} verb="Save the name" isCard>
      <TextField
        label="Name"
        hint="What the connection is called here: the display name of its end user"
        value={text}
        onInput={setText}
      />
    </ChangeForm>
  );
}

const namedOrganization = ({ display_name: name }: { readonly display_name: string | null }) =>
  name === null ? {} : { display_name: name };

/** The API refuses tags that are no text; other values are sent as their JSON. */
const textsOf = (tags: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tags).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

interface JsonEditorProps {
  readonly label: string;
  readonly hint: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly save: (
    client: Parameters<Parameters<typeof useChange>[0]>[0],
    value: Readonly<Record<string, unknown>>,
  ) => Promise<unknown>;
}

function JsonEditor({ label, hint, value, save }: JsonEditorProps): JSX.Element {
  const saved = JSON.stringify(value, null, 2);
  const [text, setText] = useState(saved);
  const parsed = parseObject(text);
  const change = useChange((client) => save(client, parsed ?? {}), {
    done: `${label} saved`,
    showsFailure: true,
  });
  return (
    <div class="card padded stack">
      <TextArea
        label={label}
        hint={hint}
        value={text}
        problem={parsed === null ? 'Write a JSON object.' : undefined}
        onInput={setText}
      />
      {change.error !== null && <FailureNotice failure={failureOf(change.error)} />}
      <div>
        <Button
          tone="primary"
          isDisabled={parsed === null || text === saved}
          isBusy={change.isPending}
          onPress={() => change.mutate()}
        >
          Save {label.toLowerCase()}
        </Button>
      </div>
    </div>
  );
}

/** Null unless the text is a JSON object. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

function Deletion({ name }: { readonly name: ConnectionName }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const [isOpen, setOpen] = useState(false);
  const { integration, connection } = name;
  const remove = useChange(
    (client) =>
      client.request('DELETE /connections/{connectionId}', {
        params: { connectionId: connection },
        query: { provider_config_key: integration },
      }),
    {
      done: `${connection} was deleted`,
      onDone: () => navigate(path('/connections')),
      showsFailure: true,
    },
  );
  return (
    <div class="card padded row spread">
      <p>A deleted connection takes its syncs, records and credentials with it.</p>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Delete the connection…
      </Button>
      {isOpen && (
        <ConfirmChange
          title="Delete the connection?"
          verb="Delete the connection"
          isDangerous
          typed={connection}
          change={remove}
          onClose={() => setOpen(false)}
        >
          <Destroyed name={name} />
        </ConfirmChange>
      )}
    </div>
  );
}

/** What a deletion destroys, in numbers. */
function Destroyed({ name }: { readonly name: ConnectionName }): JSX.Element {
  const { data: syncs = [] } = useSyncs(name);
  const records = syncs
    .flatMap(({ recordCount }) => Object.values(recordCount))
    .reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p>
        This deletes the connection <b>{name.connection}</b> of <b>{name.integration}</b>:
      </p>
      <ul class="bullets">
        <li>its credentials and their encryption key</li>
        <li>
          {syncs.length} {syncs.length === 1 ? 'sync' : 'syncs'} with {records.toLocaleString('en')}{' '}
          records and their history
        </li>
      </ul>
      <p>It cannot be undone.</p>
    </>
  );
}
