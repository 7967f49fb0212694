import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Client, SyncStatus as Sync } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import { TextField } from '../../design/field.tsx';
import type { IconName } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Dialog } from '../../design/overlay.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { ConfirmChange } from '../../shell/confirm-change.tsx';
import { CancelConfirm } from '../runs/cancel-confirm.tsx';
import type { ConnectionName } from './use-connection.ts';

type Change = 'run' | 'reset' | 'pause' | 'start';

const done: Readonly<Record<Change | 'cancel', string>> = {
  run: 'The sync was started',
  reset: 'The sync was started',
  pause: 'The schedule is paused',
  start: 'The schedule was started',
  cancel: 'The run is being cancelled',
};

function changeOf(
  client: Client,
  change: Change,
  { integration, connection }: ConnectionName,
  sync: Sync,
) {
  const body = {
    provider_config_key: integration,
    connection_id: connection,
    syncs: [{ name: sync.name, variant: sync.variant }],
  };
  switch (change) {
    case 'pause':
      return client.request('POST /sync/pause', { body });
    case 'start':
      return client.request('POST /sync/start', { body });
    case 'run':
      return client.request('POST /sync/trigger', { body });
    case 'reset':
      return client.request('POST /sync/trigger', { body: { ...body, opts: { reset: true } } });
  }
}

/** Cancels the run that goes on. */
async function cancelRun(client: Client, name: ConnectionName, sync: Sync): Promise<void> {
  const { data } = await client.request('GET /runs', {
    query: {
      provider_config_key: name.integration,
      connection_id: name.connection,
      function: sync.name,
      variant: sync.variant,
      status: ['queued', 'running'],
    },
  });
  for (const { id } of data) await client.request('POST /runs/{id}/cancel', { params: { id } });
}

const dialogs = {
  clear: ClearConfirm,
  reset: ResetConfirm,
  cancel: RunCancellation,
  frequency: FrequencyForm,
  variant: VariantForm,
  remove: VariantDeletion,
};
type DialogName = keyof typeof dialogs;

interface SyncMenuProps {
  readonly name: ConnectionName;
  readonly sync: Sync;
  readonly showCheckpoint: () => void;
}

export function SyncMenu({ name, sync, showCheckpoint }: SyncMenuProps): JSX.Element {
  const { can } = useAccess();
  const [open, setOpen] = useState<DialogName | null>(null);
  const change = useChange(
    async (client, what: Change) => {
      await changeOf(client, what, name, sync);
      return what;
    },
    { done: (what) => done[what] },
  );
  const Dialog = open === null ? null : dialogs[open];
  return (
    <>
      <Menu
        label={`Actions of ${sync.variant === 'base' ? sync.name : `${sync.name} ${sync.variant}`}`}
        icon="more"
        isIconOnly
        items={[
          ...(can('environment:syncs:execute')
            ? itemsOf(sync, (what) => change.mutate(what), setOpen)
            : []),
          ...itemsByScope(sync, can, setOpen),
          {
            id: 'checkpoint',
            label: 'Show the checkpoint',
            icon: 'list',
            onSelect: showCheckpoint,
          },
        ]}
      />
      {Dialog !== null && <Dialog name={name} sync={sync} onClose={() => setOpen(null)} />}
    </>
  );
}

function itemsOf(
  { status }: Sync,
  onChange: (change: Change) => void,
  open: (dialog: DialogName) => void,
): readonly MenuItem[] {
  const item = (id: Change, label: string, icon: IconName): MenuItem => ({
    id,
    label,
    icon,
    onSelect: () => onChange(id),
  });
  return [
    item('run', 'Run now', 'play'),
    {
      id: 'reset',
      label: 'Run from the start…',
      icon: 'refresh',
      onSelect: () => open('reset'),
    },
    {
      id: 'clear',
      label: 'Delete the records and run…',
      icon: 'trash',
      isDangerous: true,
      onSelect: () => open('clear'),
    },
    status === 'PAUSED'
      ? item('start', 'Start the schedule', 'play')
      : item('pause', 'Pause the schedule', 'pause'),
    ...(status === 'RUNNING' ? [cancelItem(open)] : []),
  ];
}

const cancelItem = (open: (dialog: DialogName) => void): MenuItem => ({
  id: 'cancel',
  label: 'Cancel the run…',
  icon: 'close',
  isDangerous: true,
  onSelect: () => open('cancel'),
});

/** Schedule and variants, as far as the key may change them. */
function itemsByScope(
  { variant }: Sync,
  can: (scope: string) => boolean,
  open: (dialog: DialogName) => void,
): readonly MenuItem[] {
  const frequency: MenuItem = {
    id: 'frequency',
    label: 'Set the frequency…',
    icon: 'clock',
    onSelect: () => open('frequency'),
  };
  const create: MenuItem = {
    id: 'variant',
    label: 'Create a variant…',
    icon: 'plus',
    onSelect: () => open('variant'),
  };
  const remove: MenuItem = {
    id: 'remove',
    label: 'Delete the variant…',
    icon: 'trash',
    isDangerous: true,
    onSelect: () => open('remove'),
  };
  const isBase = variant === 'base';
  return [
    ...(can('environment:syncs:update') ? [frequency] : []),
    ...(isBase && can('environment:syncs:variant:create') ? [create] : []),
    ...(!isBase && can('environment:syncs:variant:delete') ? [remove] : []),
  ];
}

interface SyncDialogProps {
  readonly name: ConnectionName;
  readonly sync: Sync;
  readonly onClose: () => void;
}

const bodyOf = ({ integration, connection }: ConnectionName) => ({
  provider_config_key: integration,
  connection_id: connection,
});

function ClearConfirm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
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

function FrequencyForm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
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
          hint="Such as 30m, 1h or 1d; leave empty for the frequency of the function"
          value={frequency}
          onInput={setFrequency}
        />
      </ChangeForm>
    </Dialog>
  );
}

function VariantForm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
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

function ResetConfirm({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const reset = useChange((client) => changeOf(client, 'reset', name, sync), {
    done: done.reset,
    onDone: onClose,
    showsFailure: true,
  });
  return (
    <ConfirmChange
      title={`Run ${sync.name} from the start?`}
      verb="Run from the start"
      change={reset}
      onClose={onClose}
    >
      <p>
        Its checkpoint and the time of its last run are forgotten, and a run that goes on is
        cancelled: it reads everything once more, which may take long. Its records stay.
      </p>
    </ConfirmChange>
  );
}

function RunCancellation({ name, sync, onClose }: SyncDialogProps): JSX.Element {
  const cancel = useChange((client) => cancelRun(client, name, sync), {
    done: done.cancel,
    onDone: onClose,
    showsFailure: true,
  });
  return <CancelConfirm cancel={cancel} onClose={onClose} />;
}

function VariantDeletion({ name, sync, onClose }: SyncDialogProps): JSX.Element {
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
