import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { WebhookEndpoint } from '../../../client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Check, TextField } from '../../design/field.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';

const kinds = ['auth', 'sync', 'async_action', 'forward'] as const;
type Kind = (typeof kinds)[number];

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
      {isAdding && <EndpointForm onClose={() => setAdding(false)} />}
    </>
  );
}

const columns: readonly Column<WebhookEndpoint>[] = [
  {
    title: 'Address',
    cell: ({ url }) => (
      <span class="clip mono" title={url}>
        {url}
      </span>
    ),
  },
  { title: 'Name', cell: ({ display_name: name }) => <span class="clip">{name}</span> },
  { title: 'Kinds', cell: ({ kinds: some }) => some?.join(', ').replaceAll('_', ' ') ?? 'all' },
  {
    title: 'Only of',
    cell: ({ provider_config_key: integration, connection_id: id }) => (
      <span class="clip">{[integration, id].filter(Boolean).join(' / ') || 'everything'}</span>
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'enabled' : 'disabled'}</Badge>
    ),
  },
  { title: '', fit: 'tight', cell: (endpoint) => <EndpointMenu endpoint={endpoint} /> },
];

type Change = 'test' | 'toggle' | 'delete';

function EndpointMenu({ endpoint }: { readonly endpoint: WebhookEndpoint }): JSX.Element {
  const { id, enabled, managed_by: owner } = endpoint;
  const change = useChange(
    async (client, what: Change) => {
      const params = { id };
      await (what === 'test'
        ? client.request('POST /webhook-endpoints/{id}/test', { params })
        : what === 'toggle'
          ? client.request('PATCH /webhook-endpoints/{id}', { params, body: { enabled: !enabled } })
          : client.request('DELETE /webhook-endpoints/{id}', { params }));
    },
    { done: 'Done' },
  );
  const item = (what: Change, label: string, icon: MenuItem['icon']): MenuItem => ({
    id: what,
    label,
    ...(icon === undefined ? {} : { icon }),
    isDangerous: what === 'delete',
    onSelect: () => change.mutate(what),
  });
  return (
    <Menu
      label={`Actions of ${endpoint.display_name}`}
      icon="more"
      isIconOnly
      items={[
        item('test', 'Send a test webhook', 'send'),
        ...(owner === 'endpoint'
          ? [
              item('toggle', enabled ? 'Disable' : 'Enable', 'clock'),
              item('delete', 'Delete the endpoint', 'close'),
            ]
          : []),
      ]}
    />
  );
}

function EndpointForm({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [url, setUrl] = useState('');
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Kind[]>(kinds);
  const create = useChange(
    (client) =>
      client.request('POST /webhook-endpoints', {
        body: {
          url,
          ...(name === '' ? {} : { display_name: name }),
          kinds: chosen.length === kinds.length ? null : chosen,
        },
      }),
    { done: 'The endpoint was added', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Add an endpoint" onClose={onClose}>
      <ChangeForm change={create} verb="Add the endpoint">
        <TextField label="Address" type="url" value={url} isRequired onInput={setUrl} />
        <TextField label="Name" value={name} onInput={setName} />
        <fieldset class="choices">
          <legend class="label">Kinds</legend>
          {kinds.map((kind) => (
            <Check
              key={kind}
              label={kind.replaceAll('_', ' ')}
              isChecked={chosen.includes(kind)}
              onChange={(isChecked) =>
                setChosen(kinds.filter((one) => (one === kind ? isChecked : chosen.includes(one))))
              }
            />
          ))}
        </fieldset>
      </ChangeForm>
    </Dialog>
  );
}
