import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Client, SyncStatus as Sync } from '#client/index.ts';
import { useChange } from '../../data/read.ts';
import type { IconName } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { useAccess } from '../../session/context.tsx';
import type { ConnectionName } from './connection-name.ts';
import { ClearConfirm, FrequencyForm, VariantDeletion, VariantForm } from './sync-dialogs.tsx';

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
    async (client, what: Change | 'cancel') => {
      await (what === 'cancel'
        ? cancelRun(client, name, sync)
        : changeOf(client, what, name, sync));
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
            ? itemsOf(
                sync,
                (what) => change.mutate(what),
                () => setOpen('clear'),
              )
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
  onChange: (change: Change | 'cancel') => void,
  clear: () => void,
): readonly MenuItem[] {
  const item = (id: Change | 'cancel', label: string, icon: IconName): MenuItem => ({
    id,
    label,
    icon,
    onSelect: () => onChange(id),
  });
  return [
    item('run', 'Run now', 'play'),
    item('reset', 'Run from the start', 'refresh'),
    {
      id: 'clear',
      label: 'Delete the records and run…',
      icon: 'alert',
      isDangerous: true,
      onSelect: clear,
    },
    status === 'PAUSED'
      ? item('start', 'Start the schedule', 'clock')
      : item('pause', 'Pause the schedule', 'clock'),
    ...(status === 'RUNNING' ? [item('cancel', 'Cancel the run', 'close')] : []),
  ];
}

/** Schedule and variants, as far as the key may change them. */
function itemsByScope(
  { variant }: Sync,
  can: (scope: string) => boolean,
  open: (dialog: DialogName) => void,
): readonly MenuItem[] {
  const frequency: MenuItem = {
    id: 'frequency',
    label: 'Set the frequency…',
    icon: 'gear',
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
    icon: 'close',
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
