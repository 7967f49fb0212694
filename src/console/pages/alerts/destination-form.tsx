import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AlertDestination } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { ChoiceSet, Select, TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { alertKinds, labelOfAlert, type AlertKind } from './alert-kinds.ts';

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

export function AddDestination({ onClose }: { readonly onClose: () => void }): JSX.Element {
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

export function EditDestination({ destination, onClose }: EditProps): JSX.Element {
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
          hint="Empty: it stays"
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
