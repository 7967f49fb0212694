import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { ChoiceSet, TextArea, TextField } from '../../design/field.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import {
  AccessProvider,
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
} from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { OnlyOfFields } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { WebhookSettings } from '../environments/webhook-settings.tsx';
import { EndpointKey } from './endpoint-key.tsx';
import { TestOutcome } from './test-outcome.tsx';
import { labelOfWebhook, webhookKinds, type WebhookKind } from './webhook-kinds.ts';

export function Endpoints(): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /webhook-endpoints', {});
  return (
    <>
      <div class="row">
        <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
          Add an endpoint
        </Button>
      </div>
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No endpoints">Webhooks of this environment go nowhere yet.</Empty>
          ) : (
            <Table label="Endpoints" columns={columns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </LoadedState>
      <OwnAddresses />
      {isAdding && <AddEndpoint onClose={() => setAdding(false)} />}
    </>
  );
}

/** The addresses and events that the environment itself has, for those who may manage it. */
function OwnAddresses(): JSX.Element | null {
  const { key } = useAccess();
  const account = useAccessOf(accountKeyOf(useSession()));
  const environment = key.environment;
  if (environment === null || account?.can('account:environments:read') !== true) return null;
  return (
    <AccessProvider access={account}>
      <WebhookSettings environmentId={Number(environment.id)} />
    </AccessProvider>
  );
}

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    title: 'Address',
    cell: ({ url }) => <Clip text={url} isMono />,
  },
  { title: 'Name', narrow: 'below', cell: ({ display_name: name }) => <Clip text={name} /> },
  {
    title: 'Kinds',
    fit: 'short',
    cell: ({ kinds: some }) => <Clip text={some?.map(labelOfWebhook).join(', ') ?? 'all'} />,
  },
  {
    title: 'Only of',
    fit: 'short',
    cell: ({ provider_config_key: integration, connection_id: id }) => (
      <Clip text={[integration, id].filter(Boolean).join(' / ') || 'everything'} />
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'enabled' : 'disabled'}</Badge>
    ),
  },
  { title: '', fit: 'tight', cell: (endpoint) => <EndpointMenu endpoint={endpoint} /> },
];

function EndpointMenu({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const { id, url, enabled, managed_by: owner, display_name: name } = endpoint;
  const [open, setOpen] = useState<'edit' | 'key' | 'delete' | null>(null);
  const params = { id };
  const [testId, setTestId] = useState<string | null>(null);
  const { can } = useAccess();
  const canRead = can('environment:webhooks:read');
  const test = useChange(
    (client) => client.request('POST /webhook-endpoints/{id}/test', { params }),
    {
      ...(canRead ? {} : { done: 'A test webhook was sent' }),
      onDone: ({ data }) => setTestId(canRead ? (data.message_ids[0] ?? null) : null),
    },
  );
  const toggle = useChange(
    (client) =>
      client.request('PATCH /webhook-endpoints/{id}', { params, body: { enabled: !enabled } }),
    { done: enabled ? 'The endpoint was disabled' : 'The endpoint was enabled' },
  );
  const own: readonly MenuItem[] = [
    { id: 'edit', label: 'Edit…', icon: 'pencil', onSelect: () => setOpen('edit') },
    ...(can('environment:webhook_signing_key:read')
      ? [
          {
            id: 'key',
            label: 'Signing key…',
            icon: 'key',
            onSelect: () => setOpen('key'),
          } as const,
        ]
      : []),
    {
      id: 'toggle',
      label: enabled ? 'Disable' : 'Enable',
      icon: enabled ? 'pause' : 'play',
      onSelect: () => toggle.mutate(),
    },
    {
      id: 'delete',
      label: 'Delete…',
      icon: 'trash',
      isDangerous: true,
      onSelect: () => setOpen('delete'),
    },
  ];
  const close = (): void => setOpen(null);
  return (
    <>
      <Menu
        label={`Actions of ${name}`}
        icon="more"
        isIconOnly
        items={[
          { id: 'test', label: 'Send a test webhook', icon: 'send', onSelect: () => test.mutate() },
          // The addresses of the environment are its settings.
          ...(owner === 'endpoint' ? own : []),
        ]}
      />
      {testId !== null && (
        <TestOutcome
          id={testId}
          endpoint={name === '' ? url : name}
          url={url}
          onClose={() => setTestId(null)}
        />
      )}
      {open === 'edit' && <EditEndpoint endpoint={endpoint} onClose={close} />}
      {open === 'key' && <EndpointKey endpoint={endpoint} onClose={close} />}
      {open === 'delete' && <EndpointDeletion endpoint={endpoint} onClose={close} />}
    </>
  );
}

interface DeletionProps {
  readonly endpoint: WebhookEndpoint;
  readonly onClose: () => void;
}

function EndpointDeletion({ endpoint, onClose }: DeletionProps): JSX.Element {
  const { id, display_name: name, url } = endpoint;
  const remove = useChange(
    (client) => client.request('DELETE /webhook-endpoints/{id}', { params: { id } }),
    { done: 'The endpoint was deleted', onDone: onClose, showsFailure: true },
  );
  return (
    <ConfirmChange
      title={`Delete the endpoint ${name === '' ? url : name}?`}
      verb="Delete the endpoint"
      isDangerous
      change={remove}
      onClose={onClose}
    >
      <p>
        {url} gets no more webhooks, and those that wait for it are cancelled. What was sent before
        stays in the list of messages.
      </p>
    </ConfirmChange>
  );
}

/** A test is sent on request, whatever an endpoint takes. */
const isChosen = (kind: WebhookKind): boolean => kind !== 'test';
const kinds = webhookKinds.filter(isChosen);

/** What the form holds: empty text is none. */
interface Fields {
  readonly url: string;
  readonly name: string;
  readonly kinds: readonly WebhookKind[];
  readonly integration: string;
  readonly connection: string;
  /** One on each line; empty text keeps those that the endpoint has. */
  readonly headers: string;
  /** Seconds, with commas between them. */
  readonly waits: string;
}

const bodyOf = ({ url, name, kinds: chosen, integration, connection, headers, waits }: Fields) => ({
  url,
  ...(name === '' ? {} : { display_name: name }),
  kinds: chosen.length === kinds.length ? null : chosen,
  provider_config_key: integration === '' ? null : integration,
  connection_id: connection === '' ? null : connection,
  ...(headers.trim() === '' ? {} : { headers: headersIn(headers) }),
  retry_waits_seconds: waits.trim() === '' ? null : waits.split(',').map(Number),
});

/** `none` removes all; the gateway refuses a line that is no header, by its name. */
function headersIn(text: string): Readonly<Record<string, string>> | null {
  if (text.trim() === 'none') return null;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );
}

interface AddProps {
  readonly onClose: () => void;
}

function AddEndpoint({ onClose }: AddProps): JSX.Element {
  const [fields, setFields] = useState<Fields>({
    url: '',
    name: '',
    kinds,
    integration: '',
    connection: '',
    headers: '',
    waits: '',
  });
  const create = useChange(
    (client) => client.request('POST /webhook-endpoints', { body: bodyOf(fields) }),
    { done: 'The endpoint was added', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <ChangeForm change={create} verb="Add the endpoint">
        <EndpointFields fields={fields} headerNames={[]} onChange={setFields} />
      </ChangeForm>
    </Dialog>
  );
}

interface EditProps extends AddProps {
  readonly endpoint: WebhookEndpoint;
}

function EditEndpoint({ endpoint, onClose }: EditProps): JSX.Element {
  const [fields, setFields] = useState<Fields>({
    url: endpoint.url,
    name: endpoint.display_name,
    kinds: endpoint.kinds?.filter(isChosen) ?? kinds,
    integration: endpoint.provider_config_key ?? '',
    connection: endpoint.connection_id ?? '',
    headers: '',
    waits: endpoint.retry_waits_seconds?.join(', ') ?? '',
  });
  const save = useChange(
    (client) =>
      client.request('PATCH /webhook-endpoints/{id}', {
        params: { id: endpoint.id },
        body: bodyOf(fields),
      }),
    { done: 'The endpoint was saved', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Edit the endpoint" onClose={onClose}>
      <ChangeForm change={save} verb="Save the endpoint">
        <EndpointFields fields={fields} headerNames={endpoint.header_names} onChange={setFields} />
      </ChangeForm>
    </Dialog>
  );
}

const kindChoices = kinds.map((value) => ({ value, label: labelOfWebhook(value) }));

interface FieldsProps {
  readonly fields: Fields;
  /** Of the headers that the endpoint has. */
  readonly headerNames: readonly string[];
  readonly onChange: (fields: Fields) => void;
}

function EndpointFields({ fields, headerNames, onChange }: FieldsProps): JSX.Element {
  const set = (changed: Partial<Fields>): void => onChange({ ...fields, ...changed });
  return (
    <>
      <TextField
        label="Address"
        type="url"
        value={fields.url}
        isRequired
        onInput={(url) => set({ url })}
      />
      <TextField label="Name" value={fields.name} onInput={(name) => set({ name })} />
      <ChoiceSet
        label="Kinds"
        choices={kindChoices}
        chosen={fields.kinds}
        onChange={(chosen) => set({ kinds: chosen })}
      />
      <OnlyOfFields
        integration={fields.integration}
        connection={fields.connection}
        onChange={set}
      />
      <TextArea
        label="Headers"
        rows={2}
        hint={
          headerNames.length === 0
            ? 'Name: value, one on each line'
            : `Name: value, one on each line, in place of ${headerNames.join(', ')}; empty keeps these, none removes them`
        }
        value={fields.headers}
        onInput={(headers) => set({ headers })}
      />
      <TextField
        label="Waits before retries"
        hint="Seconds, such as 3, 60, 3600; empty: those of the environment"
        value={fields.waits}
        onInput={(waits) => set({ waits })}
      />
    </>
  );
}
