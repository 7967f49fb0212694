import type { ComponentChildren, JSX } from 'preact';
import { useParts, pathOf } from '../../data/route.ts';
import { LinkTabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { Page } from '../../shell/page.tsx';
import { RunsTable } from '../runs/runs-table.tsx';
import { Authentication } from './authentication.tsx';
import type { ConnectionName } from './connection-name.ts';
import { ConnectionSettings } from './connection-settings.tsx';
import { ConnectionRecords } from './records.tsx';
import { Syncs } from './syncs.tsx';

interface ConnectionTab {
  readonly id: string;
  readonly label: string;
  readonly scope: string;
  readonly content: (name: ConnectionName) => ComponentChildren;
}

const tabs: readonly ConnectionTab[] = [
  {
    id: 'authentication',
    label: 'Authentication',
    scope: 'environment:connections:read',
    content: (name) => <Authentication name={name} />,
  },
  {
    id: 'syncs',
    label: 'Syncs',
    scope: 'environment:syncs:read',
    content: (name) => <Syncs name={name} />,
  },
  {
    id: 'records',
    label: 'Records',
    scope: 'environment:records:read',
    content: (name) => <ConnectionRecords name={name} />,
  },
  {
    id: 'runs',
    label: 'Runs',
    scope: 'environment:logs:read',
    content: ({ integration, connection }) => (
      <RunsTable query={{ provider_config_key: integration, connection_id: connection }} />
    ),
  },
  {
    id: 'settings',
    label: 'Settings',
    scope: 'environment:connections:read',
    content: (name) => <ConnectionSettings name={name} />,
  },
];

export function Connection(): JSX.Element {
  const { can, path } = useAccess();
  const [, integration = '', connection = '', part] = useParts();
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = offered.find(({ id }) => id === part) ?? offered[0];
  const here = path(pathOf('connections', integration, connection));
  return (
    <Page
      title={connection}
      crumbs={[
        ['Connections', path('/connections')],
        [integration, path(`/connections?integration=${encodeURIComponent(integration)}`)],
      ]}
    >
      <LinkTabs
        label="Connection"
        current={current?.id ?? ''}
        tabs={offered.map(({ id, label }) => ({ id, label, href: `${here}/${id}` }))}
      />
      {current?.content({ integration, connection })}
    </Page>
  );
}
