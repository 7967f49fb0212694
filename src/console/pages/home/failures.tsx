import { useQuery } from '@tanstack/preact-query';
import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Client, ConnectionEntry, Run } from '#client/index.ts';
import { nameOfConnection } from '../../data/connection-names.ts';
import { dayMs } from '../../data/local-time.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { Badge, StateBadge } from '../../design/badge.tsx';
import type { Column } from '../../design/column.ts';
import { ShortTable } from '../../design/short-table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { labelOfAlert } from '../alerts/alert-labels.ts';
import { Subjects } from '../alerts/subjects.tsx';

/** What fails now, since when, and the runs that failed last. */
export function Failures(): JSX.Element {
  const { can } = useAccess();
  return (
    <>
      {can('environment:alerts:read') && <FiringAlerts />}
      {can('environment:connections:list') && <FailingConnections />}
      {can('environment:logs:read') && can('environment:connections:list') && <FailedRuns />}
    </>
  );
}

const everyMs = 30_000;

function FiringAlerts(): JSX.Element | null {
  const { path } = useAccess();
  const { data } = useRead('GET /alerts', {}, { everyMs });
  const firing = data?.data.filter((alert) => alert.firing) ?? [];
  if (firing.length === 0) return null;
  return (
    <Part title="Alerts" href={path('/alerts')} all="All alerts">
      <ShortTable
        label="Alerts that fire"
        rows={firing}
        keyOf={({ alert }) => alert}
        columns={[
          {
            title: 'Alert',
            cell: ({ alert }) => (
              <Link href={path('/alerts')} class="clip" title={labelOfAlert(alert)}>
                {labelOfAlert(alert)}
              </Link>
            ),
          },
          {
            title: 'Of',
            narrow: 'below',
            cell: (alert) => <Subjects alert={alert} />,
          },
          {
            title: 'Count',
            fit: 'end',
            narrow: 'top end',
            cell: ({ count }) => count.toLocaleString('en'),
          },
          {
            title: 'Since',
            fit: 'tight',
            narrow: 'below end',
            cell: ({ since }) => <Time at={since} />,
          },
        ]}
      />
    </Part>
  );
}

/** How many are listed here; a link leads to all. */
const shownMax = 5;

function FailingConnections(): JSX.Element | null {
  const { path } = useAccess();
  const query = { errors: 'any', credentials: 'none', limit: shownMax } as const;
  const { data } = useRead('GET /connections', { query }, { everyMs });
  if (data === undefined || data.connections.length === 0) return null;
  return (
    <Part title="Failing connections" href={path('/connections?errors=any')} all="All of them">
      <ShortTable
        label="Failing connections"
        rows={data.connections}
        keyOf={({ id }) => String(id)}
        columns={failingColumns(path)}
      />
    </Part>
  );
}

type ConnectionError = ConnectionEntry['errors'][number];

const failingColumns = (path: (page: string) => string): readonly Column<ConnectionEntry>[] => [
  {
    title: 'Connection',
    cell: (row) => {
      const { connection_id: id, provider_config_key: integration, end_user: user } = row;
      const text = `${nameOfConnection(id, user)} · ${integration}`;
      return (
        <Link
          href={path(pathOf('connections', integration, id))}
          class="clip"
          title={`${text}\n${id}`}
        >
          {text}
        </Link>
      );
    },
  },
  {
    title: 'Why',
    narrow: 'below',
    cell: ({ errors: [error] }) =>
      error === undefined ? null : (
        <Link href={path(causeOf(error))} class="clip" title={reasonOf(error)}>
          {reasonOf(error)}
        </Link>
      ),
  },
  {
    title: 'Error',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ errors }) => (
      <Badge tone="bad">{[...new Set(errors.map(({ type }) => type))].join(', ')}</Badge>
    ),
  },
  {
    title: 'Since',
    fit: 'tight',
    narrow: 'below end',
    cell: (row) => <FailingSince connection={row} />,
  },
];

const causeOf = ({ type, log_id: id }: ConnectionError): string =>
  pathOf(type === 'sync' ? 'runs' : 'logs', id);

const reasonOf = ({ type, message }: ConnectionError): string =>
  message ?? (type === 'auth' ? 'The provider refused the credentials' : 'A sync failed');

/** The first failure after the last success, of the last 14 days. */
function FailingSince({ connection }: { readonly connection: ConnectionEntry }): JSX.Element {
  const { client, key, can } = useAccess();
  const { errors, provider_config_key: integration, connection_id: id } = connection;
  const [error] = errors;
  const { data } = useQuery({
    queryKey: [key.id, 'failing since', integration, id, error?.log_id],
    queryFn: ({ signal }) => failingSince(client, connection, signal),
    enabled: can('environment:logs:read'),
    staleTime: Infinity,
  });
  return <Time at={data} />;
}

async function failingSince(
  client: Client,
  { errors, provider_config_key: integration, connection_id: id }: ConnectionEntry,
  signal: AbortSignal,
): Promise<string | null> {
  const since = new Date(new Date().getTime() - 14 * dayMs).toISOString();
  const [error] = errors;
  if (error?.type === 'sync') {
    const query = {
      kind: ['sync'],
      provider_config_key: integration,
      connection_id: id,
      since,
      limit: 200,
    } as const;
    const { data } = await client.request('GET /runs', { query, signal });
    const failed = data.find((run) => run.id === error.log_id);
    const ended = data.filter((run) => run.function === failed?.function && run.ended_at !== null);
    return firstFailure(ended, ({ status }) => status === 'succeeded')?.ended_at ?? null;
  }
  const body = {
    types: ['auth'],
    integrations: [integration],
    connections: [id],
    period: { from: since, to: new Date().toISOString() },
    limit: 100,
  };
  const { data } = await client.request('POST /logs/operations', { body, signal });
  return firstFailure(data, ({ state }) => state === 'success')?.createdAt ?? null;
}

/** @param newestFirst of which the newest failed */
function firstFailure<Item>(
  newestFirst: readonly Item[],
  isSuccess: (item: Item) => boolean,
): Item | undefined {
  const success = newestFirst.findIndex(isSuccess);
  return success === -1 ? newestFirst.at(-1) : newestFirst[success - 1];
}

function FailedRuns(): JSX.Element | null {
  const { path } = useAccess();
  const { data } = useRead(
    'GET /runs',
    { query: { status: ['failed', 'timed_out'], limit: shownMax } },
    { everyMs },
  );
  if (data === undefined || data.data.length === 0) return null;
  return (
    <Part title="Last failures" href={path('/runs?status=failed')} all="All failed runs">
      <ShortTable
        label="Last failures"
        rows={data.data}
        keyOf={({ id }) => id}
        columns={runColumns(path)}
      />
    </Part>
  );
}

const runColumns = (path: (page: string) => string): readonly Column<Run>[] => [
  {
    title: 'Function',
    fit: 'tight',
    cell: ({ id, function: name }) => (
      <Link href={path(pathOf('runs', id))} class="clip" title={name}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Error',
    narrow: 'below',
    cell: ({ id, error }) => <ErrorText id={id} error={error} />,
  },
  {
    title: 'Connection',
    cell: ({ connection_id: id, provider_config_key: integration }) => (
      <ConnectionLink integration={integration} id={id} />
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ status }) => <StateBadge state={status} />,
  },
  {
    title: 'Ended',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ ended_at: at }) => <Time at={at} />,
  },
];

/** The message, and the line of the source, whose text the page of the run has. */
function ErrorText({ id, error }: Pick<Run, 'id' | 'error'>): JSX.Element {
  const { path } = useAccess();
  const { message = '–', location = null } = error ?? {};
  const text = location === null ? message : `${message} (${location})`;
  return (
    <Link href={path(pathOf('runs', id))} class="clip" title={text}>
      {text}
    </Link>
  );
}

interface PartProps {
  readonly title: string;
  readonly href: string;
  /** Text of the link to the whole list. */
  readonly all: string;
  readonly children: ComponentChildren;
}

const Part = ({ title, href, all, children }: PartProps): JSX.Element => (
  <section class="stack tight">
    <div class="row spread">
      <h2>{title}</h2>
      <Link href={href}>{all}</Link>
    </div>
    {children}
  </section>
);
