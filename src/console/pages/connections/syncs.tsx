import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Client, SyncStatus as Sync } from '../../../client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange } from '../../data/read.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Json } from '../../design/code.tsx';
import { Confirm } from '../../design/confirm.tsx';
import type { IconName } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import type { ConnectionName } from './connection-name.ts';
import { useSyncs } from './use-syncs.ts';

export function Syncs({ name }: { readonly name: ConnectionName }): JSX.Element {
  const [shown, setShown] = useState<Sync | null>(null);
  const query = useSyncs(name, { isLive: true });
  return (
    <LoadedState query={query}>
      {(syncs) =>
        syncs.length === 0 ? (
          <Empty title="No syncs" command="npx svc deploy <environment>">
            Deploy a sync of this integration:
          </Empty>
        ) : (
          <>
            <Table
              label="Syncs"
              columns={columnsOf(name, setShown)}
              rows={syncs}
              keyOf={({ id }) => id}
            />
            {shown !== null && (
              <Drawer title={`Checkpoint of ${shown.name}`} onClose={() => setShown(null)}>
                <Json label="Checkpoint" value={shown.checkpoint} />
              </Drawer>
            )}
          </>
        )
      }
    </LoadedState>
  );
}

const columnsOf = (
  name: ConnectionName,
  showCheckpoint: (sync: Sync) => void,
): readonly Column<Sync>[] => [
  { title: 'Sync', cell: ({ name: sync, variant }) => nameOf(sync, variant) },
  { title: 'State', fit: 'tight', cell: ({ status }) => <StateBadge state={status} /> },
  {
    title: 'Last run',
    cell: (sync) => <LastRun name={name} sync={sync} />,
  },
  { title: 'Frequency', fit: 'tight', cell: ({ frequency }) => frequency },
  {
    title: 'Records',
    fit: 'end',
    cell: ({ recordCount }) =>
      Object.entries(recordCount).map(([model, count]) => (
        <div key={model}>
          {model} {count.toLocaleString('en')}
        </div>
      )),
  },
  { title: 'Finished', fit: 'tight', cell: ({ finishedAt }) => <Time at={finishedAt} /> },
  {
    title: 'Next start',
    fit: 'tight',
    cell: ({ nextScheduledSyncAt: at }) => <Time at={at} />,
  },
  {
    title: '',
    fit: 'tight',
    cell: (sync) => (
      <SyncMenu name={name} sync={sync} showCheckpoint={() => showCheckpoint(sync)} />
    ),
  },
];

const nameOf = (sync: string, variant: string): string =>
  variant === 'base' ? sync : `${sync} · ${variant}`;

function LastRun({ name, sync }: { readonly name: ConnectionName; readonly sync: Sync }) {
  const { path } = useAccess();
  const totals = Object.values(sync.latestResult ?? {});
  const sum = (field: 'added' | 'updated' | 'deleted'): number =>
    totals.reduce((total, counts) => total + counts[field], 0);
  const search = new URLSearchParams({
    integration: name.integration,
    connection: name.connection,
    function: sync.name,
  });
  return (
    <div class="row">
      {sync.latestExecutionStatus !== null && <StateBadge state={sync.latestExecutionStatus} />}
      <Link href={path(`/runs?${search.toString()}`)} class="number">
        +{sum('added')} ~{sum('updated')} −{sum('deleted')}
      </Link>
    </div>
  );
}

type Change = 'run' | 'reset' | 'clear' | 'pause' | 'start';

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
    case 'clear':
      return client.request('POST /sync/trigger', {
        body: { ...body, opts: { reset: true, emptyCache: true } },
      });
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

interface SyncMenuProps {
  readonly name: ConnectionName;
  readonly sync: Sync;
  readonly showCheckpoint: () => void;
}

function SyncMenu({ name, sync, showCheckpoint }: SyncMenuProps): JSX.Element {
  const { can } = useAccess();
  const [isClearing, setClearing] = useState(false);
  const change = useChange(
    async (client, what: Change | 'cancel') => {
      await (what === 'cancel'
        ? cancelRun(client, name, sync)
        : changeOf(client, what, name, sync));
    },
    { done: 'Requested', onDone: () => setClearing(false) },
  );
  const changes = can('environment:syncs:execute')
    ? itemsOf(
        sync,
        (what) => change.mutate(what),
        () => setClearing(true),
      )
    : [];
  return (
    <>
      <Menu
        label={`Actions of ${sync.name}`}
        icon="more"
        isIconOnly
        items={[
          ...changes,
          {
            id: 'checkpoint',
            label: 'Show the checkpoint',
            icon: 'list',
            onSelect: showCheckpoint,
          },
        ]}
      />
      {isClearing && (
        <ClearConfirm
          sync={sync}
          isBusy={change.isPending}
          error={change.error}
          onConfirm={() => change.mutate('clear')}
          onClose={() => setClearing(false)}
        />
      )}
    </>
  );
}

interface ClearConfirmProps {
  readonly sync: Sync;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

const ClearConfirm = ({ sync, error, ...rest }: ClearConfirmProps): JSX.Element => (
  <Confirm
    {...rest}
    title={`Delete the records of ${sync.name} and run it?`}
    verb="Delete and run"
    isDangerous
    failure={error === null ? null : failureOf(error)}
  >
    <p>
      The records of all its models are deleted and fetched again. Applications see them as deleted
      and added.
    </p>
  </Confirm>
);

function itemsOf(
  { status }: Sync,
  request: (change: Change | 'cancel') => void,
  clear: () => void,
): readonly MenuItem[] {
  const item = (id: Change | 'cancel', label: string, icon: IconName): MenuItem => ({
    id,
    label,
    icon,
    onSelect: () => request(id),
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
