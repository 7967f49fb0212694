import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Alert, AlertDestination } from '#client/index.ts';
import { useRead, useChange } from '../../data/read.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { ChoiceSet, Select, TextField } from '../../design/field.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { Notice, Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { toast } from '../../design/toast.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { alertKinds, labelOfAlert, type AlertKind } from './alert-labels.ts';
import { Subjects } from './subjects.tsx';

/** What fails now, and who is notified of it. */
export function Alerts(): JSX.Element {
  const query = useRead('GET /alerts', {}, { everyMs: 10_000 });
  const destinations = useRead('GET /alert-destinations', {});
  const isObserved = destinations.data?.data.some(({ enabled }) => enabled) ?? true;
  return (
    <Page
      title="Alerts"
      about="Failures of this environment that people are notified of, by webhook, Slack or mail."
    >
      <Destinations />
      <h2>State</h2>
      {!isObserved && (
        <Notice tone="warn">
          Nothing is observed, because no destination is enabled: failures of this environment are
          not found.
        </Notice>
      )}
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="State of the alerts"
            columns={columnsOf(isObserved)}
            rows={data}
            keyOf={({ alert }) => alert}
          />
        )}
      </LoadedState>
    </Page>
  );
}

/** @param isObserved whether the service looks for failures; otherwise a state is that of the last observation */
const columnsOf = (isObserved: boolean): readonly Column<Alert>[] => [
  { title: 'Alert', cell: ({ alert }) => labelOfAlert(alert) },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ firing: isFiring }) => {
      if (!isObserved) return <Badge>not observed</Badge>;
      return <Badge tone={isFiring ? 'bad' : 'good'}>{isFiring ? 'firing' : 'ok'}</Badge>;
    },
  },
  { title: 'Count', fit: 'end', cell: ({ count }) => count.toLocaleString('en') },
  {
    title: 'Of',
    narrow: 'below',
    cell: (alert) => <Subjects alert={alert} />,
  },
  { title: 'Since', fit: 'tight', narrow: 'below end', cell: ({ since }) => <Time at={since} /> },
  { title: 'Notified', fit: 'tight', cell: ({ notified_at: at }) => <Time at={at} /> },
];

const changes = 'environment:alerts:write';

/** Where alerts go. */
function Destinations(): JSX.Element {
  const [isAdding, setAdding] = useState(false);
  const query = useRead('GET /alert-destinations', {});
  const { can } = useAccess();
  const add = can(changes) && (
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
      <span class="clip" title={nameOf(destination)}>
        {nameOf(destination)}
      </span>
    ),
  },
  { title: 'Type', fit: 'tight', cell: ({ type }) => type },
  {
    title: 'Target',
    narrow: 'below',
    cell: ({ target }) => <Clip text={target} isMono />,
  },
  {
    title: 'Alerts',
    cell: ({ alerts }) => <Clip text={alerts?.map(labelOfAlert).join(', ') ?? 'all'} />,
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
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
  const { can } = useAccess();
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
  if (!can(changes)) return <></>;
  return (
    <>
      <Menu
        label={`Actions of ${nameOf(destination)}`}
        icon="more"
        isIconOnly
        items={[
          { id: 'test', label: 'Send a test', icon: 'send', onSelect: () => test.mutate() },
          { id: 'edit', label: 'Edit…', icon: 'pencil', onSelect: () => setOpen('edit') },
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

type Type = AlertDestination['type'];

const types: readonly { readonly value: Type; readonly label: string; readonly hint: string }[] = [
  { value: 'webhook', label: 'Webhook', hint: 'A URL that takes JSON by POST' },
  { value: 'slack', label: 'Slack', hint: 'The URL of an incoming webhook of Slack' },
  { value: 'email', label: 'Mail', hint: 'A mail address; the operator sets the mail server' },
];

const kindChoices = alertKinds.map((value) => ({ value, label: labelOfAlert(value) }));

/** Null, which includes alerts of later versions, when every one is chosen. */
const chosenAlerts = (kinds: readonly AlertKind[]): readonly AlertKind[] | null =>
  kinds.length === alertKinds.length ? null : kinds;

function AddDestination({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [type, setType] = useState<Type>('webhook');
  const [target, setTarget] = useState('');
  const [name, setName] = useState('');
  const [kinds, setKinds] = useState(alertKinds);
  const create = useChange(
    (client) =>
      client.request('POST /alert-destinations', {
        body: { type, target, display_name: name, alerts: chosenAlerts(kinds) },
      }),
    { done: 'The destination was added', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Add a destination" onClose={onClose}>
      <ChangeForm change={create} verb="Add the destination">
        <Select
          label="Type"
          value={type}
          choices={types}
          onChange={(value) => setType(types.find((one) => one.value === value)?.value ?? type)}
        />
        <TextField
          label="Target"
          hint={types.find((one) => one.value === type)?.hint}
          value={target}
          isRequired
          onInput={setTarget}
        />
        <TextField label="Name" value={name} onInput={setName} />
        <ChoiceSet label="Alerts" choices={kindChoices} chosen={kinds} onChange={setKinds} />
      </ChangeForm>
    </Dialog>
  );
}

interface EditProps {
  readonly destination: AlertDestination;
  readonly onClose: () => void;
}

function EditDestination({ destination, onClose }: EditProps): JSX.Element {
  const [target, setTarget] = useState('');
  const [name, setName] = useState(destination.display_name);
  const [kinds, setKinds] = useState(destination.alerts ?? alertKinds);
  const save = useChange(
    (client) =>
      client.request('PATCH /alert-destinations/{id}', {
        params: { id: destination.id },
        body: {
          ...(target === '' ? {} : { target }),
          display_name: name,
          alerts: chosenAlerts(kinds),
        },
      }),
    { done: 'The destination was saved', onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title="Edit the destination" onClose={onClose}>
      <ChangeForm change={save} verb="Save the destination">
        <TextField
          label="Target"
          hint="Leave empty to keep it"
          placeholder={destination.target}
          value={target}
          onInput={setTarget}
        />
        <TextField label="Name" value={name} onInput={setName} />
        <ChoiceSet label="Alerts" choices={kindChoices} chosen={kinds} onChange={setKinds} />
      </ChangeForm>
    </Dialog>
  );
}
