import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { SyncStatus as Sync } from '#client/index.ts';
import { useSort } from '../../data/sort.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Json } from '../../design/code.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { SyncMenu } from './sync-menu.tsx';
import type { ConnectionName } from './use-connection.ts';
import { useSyncs } from './use-syncs.ts';

export function Syncs({ name }: { readonly name: ConnectionName }): JSX.Element {
  const [shown, setShown] = useState<Sync | null>(null);
  const sort = useSort();
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
              sort={sort}
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
  {
    title: 'Sync',
    sortBy: ({ name: sync }) => sync,
    cell: ({ name: sync, variant }) => nameOf(sync, variant),
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ status }) => status,
    cell: ({ status }) => <StateBadge state={status} />,
  },
  {
    title: 'Last run',
    narrow: 'below',
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
  {
    title: 'Finished',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ finishedAt }) => finishedAt ?? null,
    cell: ({ finishedAt }) => <Time at={finishedAt} />,
  },
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
