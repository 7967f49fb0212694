import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { exact } from '../../design/time.tsx';
import {
  AccessProvider,
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
} from '../../session/context.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { WebhookSettings } from '../environments/webhook-settings.tsx';
import { AddEndpoint, EditEndpoint } from './endpoint-form.tsx';
import { EndpointKey } from './endpoint-key.tsx';
import { TestOutcome } from './test-outcome.tsx';
import { labelOfWebhook } from './webhook-kinds.ts';

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
    cell: (endpoint) => <EndpointState endpoint={endpoint} />,
  },
  { title: '', fit: 'tight', cell: (endpoint) => <EndpointMenu endpoint={endpoint} /> },
];

function EndpointState({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const { enabled, failing_since: since, disabled_at: disabledAt, failures } = endpoint;
  if (disabledAt !== null) {
    return (
      <span title={`All of ${failures} attempts failed until ${exact(new Date(disabledAt))}`}>
        <Badge tone="bad">disabled by failures</Badge>
      </span>
    );
  }
  if (!enabled) return <Badge tone="plain">disabled</Badge>;
  if (since === null) return <Badge tone="good">enabled</Badge>;
  return (
    <span title={`All webhooks failed since ${exact(new Date(since))}`}>
      <Badge tone="warn">failing</Badge>
    </span>
  );
}

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
  const own = ownItems(enabled, can('environment:webhook_signing_key:read'), {
    edit: () => setOpen('edit'),
    key: () => setOpen('key'),
    toggle: () => toggle.mutate(),
    remove: () => setOpen('delete'),
  });
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

/** What can be done with an endpoint besides a test. */
const ownItems = (
  isEnabled: boolean,
  canReadKey: boolean,
  act: Readonly<Record<'edit' | 'key' | 'toggle' | 'remove', () => void>>,
): readonly MenuItem[] => [
  { id: 'edit', label: 'Edit…', icon: 'pencil', onSelect: act.edit },
  ...(canReadKey
    ? [{ id: 'key', label: 'Signing key…', icon: 'key', onSelect: act.key } as const]
    : []),
  {
    id: 'toggle',
    label: isEnabled ? 'Disable' : 'Enable',
    icon: isEnabled ? 'pause' : 'play',
    onSelect: act.toggle,
  },
  { id: 'delete', label: 'Delete…', icon: 'trash', isDangerous: true, onSelect: act.remove },
];

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
