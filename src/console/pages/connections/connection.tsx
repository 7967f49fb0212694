import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Input, LogOperation } from '#client/index.ts';
import { nameOfConnection } from '../../data/connection-names.ts';
import { dayMs } from '../../data/local-time.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useParts, pathOf } from '../../data/route.ts';
import { Badge, StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { modeLabels } from '../integrations/provider-words.ts';
import { LogOf } from '../logs/logs.tsx';
import { RunsTable } from '../runs/runs-table.tsx';
import { ConnectionSettings } from './connection-settings.tsx';
import { Failing } from './failing.tsx';
import { ConnectionRecords } from './records.tsx';
import { Syncs } from './syncs.tsx';
import { type ConnectionName, useConnection, type ShownConnection } from './use-connection.ts';

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
    id: 'logs',
    label: 'Logs',
    scope: 'environment:logs:read',
    content: ({ integration, connection }) => <LogOf subject={{ integration, connection }} />,
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
  const { data } = useConnection({ integration, connection }, can('environment:connections:read'));
  return (
    <Page
      title={nameOfConnection(connection, data?.end_user)}
      about={
        <span class="row">
          <span class="mono">{connection}</span>
          <CopyButton text={connection} label="Copy the connection id" />
        </span>
      }
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
      <Failing name={{ integration, connection }} />
      {current?.content({ integration, connection })}
    </Page>
  );
}

/** How the connection authenticates, how long it lasts, and each refresh with its outcome. */
function Authentication({ name }: { readonly name: ConnectionName }): JSX.Element {
  const { can } = useAccess();
  const query = useConnection(name);
  return (
    <LoadedState query={query}>
      {(connection) => (
        <div class="stack">
          <div class="card">
            <div class="card-head">
              <h2>Credentials</h2>
              <Actions name={name} connection={connection} />
            </div>
            <div class="card-body">
              <Facts connection={connection} />
            </div>
          </div>
          {can('environment:logs:read') && <Refreshes name={name} />}
        </div>
      )}
    </LoadedState>
  );
}

const hidden = '••••••••';

const modeLabel = (type: string | null): string =>
  Object.entries(modeLabels).find(([mode]) => mode === (type ?? 'NONE'))?.[1] ?? type ?? '';

/** A field of credentials, such as `apiKey` or `access_token`, in words. */
function labelOfField(field: string): string {
  const words = field
    .replaceAll('_', ' ')
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace('api', 'API');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Facts({ connection }: { readonly connection: ShownConnection }): JSX.Element {
  const { type, expiresAt, fields, end_user: user } = connection;
  return (
    <KeyValues
      rows={[
        ['Provider', connection.provider],
        ['Sign-in', modeLabel(type)],
        ...fields.map((field) => [labelOfField(field), <span key={field}>{hidden}</span>] as const),
        ['Expires', expiresAt === null ? 'never' : <Time at={expiresAt} />],
        ['End user', [user?.display_name, user?.email, user?.id].filter(Boolean).join(' · ')],
        ['Organization', user?.organization?.display_name ?? user?.organization?.id ?? null],
        ['Created', <Time key="created" at={connection.created_at} />],
        ['Last fetched', <Time key="fetched" at={connection.last_fetched_at} />],
      ]}
    />
  );
}

interface ActionsProps {
  readonly name: ConnectionName;
  readonly connection: ShownConnection;
}

function Actions({ name, connection }: ActionsProps): JSX.Element {
  const { can } = useAccess();
  const { integration, connection: id } = name;
  const refresh = useChange(
    async (client) => {
      await client.request('GET /connections/{connectionId}', {
        params: { connectionId: id },
        query: { provider_config_key: integration, force_refresh: true, credentials: 'masked' },
      });
    },
    { done: 'The credentials were refreshed' },
  );
  const reconnect = useChange(
    (client) =>
      client.request('POST /connect/sessions/reconnect', {
        body: { connection_id: id, integration_id: integration },
      }),
    { onDone: ({ data }) => void window.open(data.connect_link, '_blank', 'noopener') },
  );
  return (
    <div class="row">
      {connection.expiresAt !== null && (
        <Button icon="refresh" isBusy={refresh.isPending} onPress={() => refresh.mutate()}>
          Refresh now
        </Button>
      )}
      {can('environment:connect_sessions:write') && (
        <Button icon="link" isBusy={reconnect.isPending} onPress={() => reconnect.mutate()}>
          Reconnect
        </Button>
      )}
    </div>
  );
}

/** Opening the page may itself cause one. */
const refreshesEveryMs = 5_000;

function Refreshes({ name }: { readonly name: ConnectionName }): JSX.Element {
  const { path } = useAccess();
  const week = 7 * dayMs;
  const now = new Date();
  now.setMinutes(0, 0, 0);
  const period = {
    from: new Date(now.getTime() - week).toISOString(),
    to: new Date(now.getTime() + 3_600_000).toISOString(),
  };
  const body = {
    types: ['auth'],
    integrations: [name.integration],
    connections: [name.connection],
    period,
    limit: 50,
  } satisfies Input<'POST /logs/operations'>['body'];
  const query = useRead('POST /logs/operations', { body }, { everyMs: refreshesEveryMs });
  return (
    <>
      <h2>Authorizations and refreshes of the last 7 days</h2>
      <LoadedState query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="Nothing in the last 7 days" />
          ) : (
            <Table
              label="Authorizations and refreshes"
              rows={data}
              keyOf={({ id }) => id}
              columns={columnsOf(path)}
            />
          )
        }
      </LoadedState>
    </>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<LogOperation>[] => [
  {
    title: 'What',
    cell: ({ id, operation }) => <Link href={path(pathOf('logs', id))}>{operation.action}</Link>,
  },
  {
    title: 'Outcome',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ state }) => <StateBadge state={state} />,
  },
  {
    title: 'Message',
    narrow: 'below',
    cell: ({ message }) => <Clip text={message} />,
  },
  {
    title: 'Trigger',
    fit: 'tight',
    cell: ({ operation }) => <Badge>{operation.type}</Badge>,
  },
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
];
