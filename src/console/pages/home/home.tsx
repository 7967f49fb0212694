import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Answer, ConnectToken } from '#client/index.ts';
import { useRead, useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { Chart, type Series } from '../../design/chart.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import {
  AccessProvider,
  accountKeyOf,
  useAccess,
  useAccessOf,
  useSession,
} from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { useSyncs } from '../connections/use-syncs.ts';

const ranges = ['1h', '24h', '7d'] as const;
type Range = (typeof ranges)[number];
type Statistics = Answer<'GET /statistics'>['data'];
type SeriesName = keyof Statistics['series'];

/** How the environment does: charts of the last hour, day or week, and what needs attention. */
export function Home(): JSX.Element {
  const { can, key } = useAccess();
  const filters = useUrlState();
  const range = ranges.find((one) => one === filters.get('range')) ?? '24h';
  return (
    <Page
      title={key.environment?.name ?? 'Home'}
      actions={
        <div class="row" role="group" aria-label="Range">
          {ranges.map((one) => (
            <Button
              key={one}
              isSmall
              tone={one === range ? 'primary' : 'plain'}
              onPress={() => filters.set({ range: one })}
            >
              {one}
            </Button>
          ))}
        </div>
      }
    >
      <FirstSteps />
      {can('environment:logs:read') ? <Activity range={range} /> : <ProjectionTile />}
    </Page>
  );
}

/** What a newcomer does next; nothing once there is an integration, but for the way to the demo's first records. */
function FirstSteps(): JSX.Element | null {
  const { can, path } = useAccess();
  const tryDemo = useTryDemo();
  const mayTry = can('environment:deploy') && can('environment:integrations:list');
  const demo = useRead('GET /demo', {}, { isEnabled: mayTry });
  const { data } = useRead(
    'GET /integrations',
    { query: { credentials: 'none' } },
    { isEnabled: can('environment:integrations:list') },
  );
  if (tryDemo.data !== undefined) return <DemoProgress session={tryDemo.data} />;
  if (data?.data.length !== 0) return null;
  return (
    <Empty
      title="Add your first integration"
      action={
        <div class="row">
          {demo.data?.data.is_available === true && (
            <Button tone="primary" isBusy={tryDemo.isPending} onPress={() => tryDemo.mutate()}>
              Try the demo provider
            </Button>
          )}
          {can('environment:integrations:create') && (
            <LinkButton href={path('/integrations/new')} icon="plus">
              Add an integration
            </LinkButton>
          )}
        </div>
      }
    >
      Then connect an account, and deploy functions that sync its records.
    </Empty>
  );
}

interface TileProps {
  readonly href: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

const Tile = ({ href, label, children }: TileProps): JSX.Element => (
  <Link href={href} class="card tile">
    <span class="muted">{label}</span>
    <span class="value number">{children}</span>
  </Link>
);

/** Refreshed twice a minute. */
function Activity({ range }: { readonly range: Range }): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /statistics', { query: { range } }, { everyMs: 30_000 });
  return (
    <LoadedState query={query}>
      {({ data }) => (
        <>
          <div class="tiles">
            <Tile href={path('/connections')} label="Connections">
              {data.totals.connections.toLocaleString('en')}
            </Tile>
            <Tile href={path('/connections?errors=any')} label="Failing connections">
              {data.totals.failing_connections.toLocaleString('en')}
            </Tile>
            <Tile href={path('/runs?kind=sync')} label="Records per second">
              {rateOf(data)}
            </Tile>
            <Tile href={path('/webhooks-out')} label="Webhooks delivered">
              {deliveredOf(data)}
            </Tile>
            <ProjectionTile />
          </div>
          <div class="columns">
            <Charts statistics={data} />
          </div>
        </>
      )}
    </LoadedState>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

/** Records that syncs changed, on average over the range. */
function rateOf({ series, times, step_seconds: step }: Statistics): string {
  const rate = sum(series.records_changed) / (times.length * step);
  return rate.toLocaleString('en', { maximumSignificantDigits: 2 });
}

/** Share of the webhooks of the range; a dash without any. */
function deliveredOf({ series }: Statistics): string {
  const delivered = sum(series.webhooks_delivered);
  const all = delivered + sum(series.webhooks_failed);
  return all === 0 ? '–' : `${((100 * delivered) / all).toFixed(1)} %`;
}

function ProjectionTile(): JSX.Element | null {
  const session = useSession();
  const access = useAccessOf(accountKeyOf(session));
  if (access?.can('account:projections:read') !== true) return null;
  return (
    <AccessProvider access={access}>
      <ProjectionLag />
    </AccessProvider>
  );
}

function ProjectionLag(): JSX.Element {
  const { path } = useAccess();
  const { data } = useRead('GET /projections', {}, { everyMs: 10_000 });
  const worst = data?.data.reduce((most, { lag }) => Math.max(most, lag), 0);
  return (
    <Tile href={path('/projections')} label="Projection lag (events)">
      {worst?.toLocaleString('en') ?? '…'}
    </Tile>
  );
}

function Charts({ statistics }: { readonly statistics: Statistics }): JSX.Element {
  const { path } = useAccess();
  const { times, series } = statistics;
  const chart = (title: string, page: string, shown: readonly Series[]) => (
    <ChartCard title={title} href={path(page)}>
      <Chart label={title} times={times} series={shown} />
    </ChartCard>
  );
  const outcome = (title: string, page: string, succeeded: readonly number[], failed: SeriesName) =>
    chart(title, page, [
      { label: 'succeeded', color: '--series-3', values: succeeded },
      { label: 'failed', color: '--series-2', values: series[failed] },
    ]);
  const counts = (title: string, page: string, label: string, name: SeriesName) =>
    chart(title, page, [{ label, color: '--series-1', values: series[name] }]);
  const calls = series.proxy_requests.map((all, at) => all - (series.proxy_failed[at] ?? 0));
  return (
    <>
      {outcome('Sync runs', '/runs?kind=sync', series.sync_runs_succeeded, 'sync_runs_failed')}
      {outcome(
        'Action runs',
        '/runs?kind=action',
        series.action_runs_succeeded,
        'action_runs_failed',
      )}
      {counts('Records changed by syncs', '/runs?kind=sync', 'changes', 'records_changed')}
      {outcome('Proxy requests', '/logs?type=proxy', calls, 'proxy_failed')}
      {outcome('Webhooks out', '/webhooks-out', series.webhooks_delivered, 'webhooks_failed')}
      {counts('Webhooks in', '/webhooks-in', 'received', 'webhooks_received')}
      {outcome(
        'Authorizations',
        '/logs?type=auth',
        series.authorizations_succeeded,
        'authorizations_failed',
      )}
    </>
  );
}

interface ChartCardProps {
  readonly title: string;
  readonly href: string;
  readonly children: ComponentChildren;
}

const ChartCard = ({ title, href, children }: ChartCardProps): JSX.Element => (
  <section class="card padded stack">
    <h2>
      <Link href={href}>{title}</Link>
    </h2>
    {children}
  </section>
);

const integration = 'demo-oauth';

/** Sets the demo up and opens the connect page for it, in a window of its own. */
const useTryDemo = () =>
  useChange(
    async (client) => {
      await client.request('POST /demo');
      const body = { end_user: { id: 'console-user' }, allowed_integrations: [integration] };
      return (await client.request('POST /connect/sessions', { body })).data;
    },
    { onDone: ({ connect_link: link }) => void window.open(link, '_blank', 'noopener') },
  );

/** Waits for the connection and its first records, and shows them. */
function DemoProgress({ session }: { readonly session: ConnectToken }): JSX.Element {
  const query = { integrationId: [integration], credentials: 'none', limit: 1 } as const;
  const { data } = useRead('GET /connections', { query }, { everyMs: 1_000 });
  const connection = data?.connections[0]?.connection_id;
  if (connection !== undefined) return <FirstRecords connection={connection} />;
  return (
    <Notice tone="good">
      <p>
        The demo is set up. Connect its account in the window that is open; the records then appear
        here.
      </p>
      <a href={session.connect_link} target="_blank" rel="noopener noreferrer">
        Open it again
      </a>
    </Notice>
  );
}

function FirstRecords({ connection }: { readonly connection: string }): JSX.Element {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const { data: syncs = [] } = useSyncs({ integration, connection }, { isLive: true });
  // While it runs, the records are only a part. A failed sync leads to its page of the connection.
  const ended = syncs.find(
    ({ latestExecutionStatus: status }) => status === 'SUCCESS' || status === 'ERROR',
  );
  const tab = ended?.latestExecutionStatus === 'ERROR' ? 'syncs' : 'records';
  useEffect(() => {
    if (ended === undefined) return;
    navigate(path(`${pathOf('connections', integration, connection)}/${tab}`));
  }, [ended === undefined]);
  return <Notice tone="good">Connected. The first sync is running…</Notice>;
}
