import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SyncStatus as Sync } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { TextField } from '../../design/field.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import type { ConnectionName } from './connection-name.ts';

interface SyncDialogProps {
  readonly name: ConnectionName;
  readonly sync: Sync;
  readonly onClose: () => void;
}

const bodyOf = ({ integration, connection }: ConnectionName) => ({
  provider_config_key: integration,
  connection_id: connection,
});

export function ClearConfirm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const clear = useChange(
    (client) =>
      client.request('POST /sync/trigger', {
        body: {
          ...bodyOf(name),
          syncs: [{ name: sync.name, variant: sync.variant }],
          opts: { reset: true, emptyCache: true },
        },
      }),
    { done: 'The sync was started', onDone: onClose, showsFailure: true },
  );
  return (
    <ConfirmChange
      title={`Delete the records of ${sync.name} and run it?`}
      verb="Delete and run"
      isDangerous
      change={clear}
      onClose={onClose}
    >
      <p>
        The records of all its models are deleted and fetched again. Applications see them as
        deleted and added.
      </p>
    </ConfirmChange>
  );
}

export function FrequencyForm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const [frequency, setFrequency] = useState(sync.frequency);
  const save = useChange(
    (client) =>
      client.request('PUT /sync/update-connection-frequency', {
        body: {
          ...bodyOf(name),
          sync_name: sync.name,
          sync_variant: sync.variant,
          frequency: frequency === '' ? null : frequency,
        },
      }),
    {
      done: (stored) => `${sync.name} runs every ${stored.frequency}`,
      onDone: onClose,
      showsFailure: true,
    },
  );
  return (
    <Dialog title={`Frequency of ${sync.name}`} onClose={onClose}>
      <ChangeForm change={save} verb="Set the frequency">
        <TextField
          label="Frequency"
          hint="Such as 30m, 1h or 1d; empty: that of the deployed function"
          value={frequency}
          onInput={setFrequency}
        />
      </ChangeForm>
    </Dialog>
  );
}

export function VariantForm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const [variant, setVariant] = useState('');
  const create = useChange(
    (client) =>
      client.request('POST /sync/{name}/variant/{variant}', {
        params: { name: sync.name, variant },
        body: bodyOf(name),
      }),
    { done: `The variant ${variant} was created`, onDone: onClose, showsFailure: true },
  );
  return (
    <Dialog title={`Create a variant of ${sync.name}`} onClose={onClose}>
      <p>
        A variant has its own metadata, schedule and records of this connection, and runs at once.
      </p>
      <ChangeForm change={create} verb="Create the variant">
        <TextField label="Name" value={variant} isRequired onInput={setVariant} />
      </ChangeForm>
    </Dialog>
  );
}

export function VariantDeletion({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const remove = useChange(
    (client) =>
      client.request('DELETE /sync/{name}/variant/{variant}', {
        params: { name: sync.name, variant: sync.variant },
        body: bodyOf(name),
      }),
    { done: `The variant ${sync.variant} was deleted`, onDone: onClose, showsFailure: true },
  );
  return (
    <ConfirmChange
      title={`Delete the variant ${sync.variant} of ${sync.name}?`}
      verb="Delete the variant"
      isDangerous
      change={remove}
      onClose={onClose}
    >
      <p>Its records are deleted with it. It cannot be undone.</p>
    </ConfirmChange>
  );
}
