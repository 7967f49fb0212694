import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AlertDestination } from '#client/index.ts';
import { useChange, useRead } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Menu } from '../../design/menu.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { toast } from '../../design/toast.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { labelOfAlert } from './alert-kinds.ts';
import { AddDestination, EditDestination } from './destination-form.tsx';

/** Where alerts go. */
export function Destinations(): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /alert-destinations', {});
  const add = (
    <Button tone="primary" icon="plus" onPress={() => setAdding(true)}>
      Add a destination
    </Button>
  );
  return (
    <>
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No one is notified yet" action={add}>
              Alerts are observed once there is a destination: a URL, an incoming webhook of Slack
              or a mail address.
            </Empty>
          ) : (
            <>
              <div>{add}</div>
              <Table label="Destinations" columns={columns} rows={data} keyOf={({ id }) => id} />
            </>
          )
        }
      </LoadedState>
      {isAdding && <AddDestination onClose={() => setAdding(false)} />}
    </>
  );
}

const nameOf = ({ display_name: name, target }: AlertDestination): string =>
  name === '' ? target : name;

const columns: readonly Column<AlertDestination>[] = [
  {
    title: 'Destination',
    cell: (destination) => (
      <span class="clip" title={destination.target}>
        {nameOf(destination)}
      </span>
    ),
  },
  { title: 'Type', fit: 'tight', cell: ({ type }) => type },
  {
    title: 'Target',
    cell: ({ target }) => <span class="clip mono">{target}</span>,
  },
  {
    title: 'Alerts',
    cell: ({ alerts }) => <span class="clip">{alerts?.map(labelOfAlert).join(', ') ?? 'all'}</span>,
  },
  {
    title: 'State',
    fit: 'tight',
    cell: ({ enabled }) => (
      <Badge tone={enabled ? 'good' : 'plain'}>{enabled ? 'enabled' : 'disabled'}</Badge>
    ),
  },
  { title: '', fit: 'tight', cell: (destination) => <DestinationMenu destination={destination} /> },
];

interface DestinationProps {
  readonly destination: AlertDestination;
}

function DestinationMenu({ destination }: DestinationProps): JSX.Element {
  const { id, enabled } = destination;
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const params = { id };
  const test = useChange(
    (client) => client.request('POST /alert-destinations/{id}/test', { params }),
    {
      onDone: ({ data: { delivered, status, error } }) =>
        delivered
          ? toast('The test was delivered')
          : toast(`The test was not delivered: ${error ?? `status ${status ?? 'unknown'}`}`, 'bad'),
    },
  );
  const toggle = useChange(
    (client) =>
      client.request('PATCH /alert-destinations/{id}', { params, body: { enabled: !enabled } }),
    { done: enabled ? 'The destination was disabled' : 'The destination was enabled' },
  );
  const close = (): void => setOpen(null);
  return (
    <>
      <Menu
        label={`Actions of ${nameOf(destination)}`}
        icon="more"
        isIconOnly
        items={[
          { id: 'test', label: 'Send a test', icon: 'send', onSelect: () => test.mutate() },
          { id: 'edit', label: 'Edit…', icon: 'gear', onSelect: () => setOpen('edit') },
          {
            id: 'toggle',
            label: enabled ? 'Disable' : 'Enable',
            icon: 'clock',
            onSelect: () => toggle.mutate(),
          },
          {
            id: 'delete',
            label: 'Delete…',
            icon: 'close',
            isDangerous: true,
            onSelect: () => setOpen('delete'),
          },
        ]}
      />
      {open === 'edit' && <EditDestination destination={destination} onClose={close} />}
      {open === 'delete' && <DestinationDeletion destination={destination} onClose={close} />}
    </>
  );
}

interface DeletionProps extends DestinationProps {
  readonly onClose: () => void;
}

function DestinationDeletion({ destination, onClose }: DeletionProps): JSX.Element {
  const remove = useChange(
    (client) =>
      client.request('DELETE /alert-destinations/{id}', { params: { id: destination.id } }),
    { done: `${nameOf(destination)} was deleted`, onDone: onClose, showsFailure: true },
  );
  return (
    <ConfirmChange
      title={`Delete the destination ${nameOf(destination)}?`}
      verb="Delete the destination"
      isDangerous
      change={remove}
      onClose={onClose}
    >
      <p>No alert goes there anymore.</p>
    </ConfirmChange>
  );
}
