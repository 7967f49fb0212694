import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import { useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Button, LinkButton } from '../../design/button.tsx';
import { Chart } from '../../design/chart.tsx';
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
import { ranges, useActivity, type Activity, type Range } from './activity.ts';

/** How the environment does: charts of the last hour, day or week, and what needs attention. */
export function Home(): JSX.Element {
  const { can, key } = useAccess();
  const filters = useUrlState();
  const range = ranges.find(({ id }) => id === filters.get('range')) ?? ranges[1];
  return (
    <Page
      title={key.environment?.name ?? 'Home'}
      actions={
        <div class="row" role="group" aria-label="Range">
          {ranges.map(({ id }) => (
            <Button
              key={id}
              isSmall
              tone={id === range.id ? 'primary' : 'plain'}
              onPress={() => filters.set({ range: id })}
            >
              {id}
            </Button>
          ))}
        </div>
      }
    >
      <FirstSteps />
      <div class="tiles">
        {can('environment:connections:list') && <ConnectionTiles />}
        <ProjectionTile />
      </div>
      {can('environment:logs:read') && <Charts range={range} />}
    </Page>
  );
}

/** What a newcomer does next; nothing once there is an integration. */
function FirstSteps(): JSX.Element | null {
  const { can, path } = useAccess();
  const { data } = useRead(
    'GET /integrations',
    {},
    { isEnabled: can('environment:integrations:list') },
  );
  if (data?.data.length !== 0) return null;
  return (
    <Empty
      title="Add your first integration"
      action={
        can('environment:integrations:create') && (
          <LinkButton href={path('/integrations/new')} tone="primary" icon="plus">
            Add an integration
          </LinkButton>
        )
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

/** Up to this number connections are counted. */
const countedConnections = 2000;

function ConnectionTiles(): JSX.Element {
  const { path } = useAccess();
  const { data } = useRead(
    'GET /connections',
    { query: { limit: countedConnections } },
    { everyMs: 30_000 },
  );
  const all = data?.connections;
  const failing = all?.filter(({ errors }) => errors.length > 0).length;
  const more = all?.length === countedConnections ? '+' : '';
  return (
    <>
      <Tile href={path('/connections')} label="Connections">
        {all === undefined ? '…' : `${all.length.toLocaleString('en')}${more}`}
      </Tile>
      <Tile href={path('/connections?errors=any')} label="Failing connections">
        {failing === undefined ? '…' : `${failing.toLocaleString('en')}${more}`}
      </Tile>
    </>
  );
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

function Charts({ range }: { readonly range: Range }): JSX.Element {
  const query = useActivity(range);
  return (
    <LoadedState query={query}>
      {(activity) => (
        <>
          {activity.isPartial && (
            <Notice tone="warn">
              There were more runs or webhooks than these charts read: they show the newest.
            </Notice>
          )}
          <div class="columns">
            <ActivityCharts activity={activity} />
          </div>
        </>
      )}
    </LoadedState>
  );
}

function ActivityCharts({ activity }: { readonly activity: Activity }): JSX.Element {
  const { path } = useAccess();
  const outcome = (title: string, page: string, counts: Activity['syncs']) => (
    <ChartCard title={title} href={path(page)}>
      <Chart
        label={title}
        times={activity.times}
        series={[
          { label: 'succeeded', color: '--series-3', values: counts.succeeded },
          { label: 'failed', color: '--series-2', values: counts.failed },
        ]}
      />
    </ChartCard>
  );
  return (
    <>
      {outcome('Sync runs', '/runs?kind=sync', activity.syncs)}
      {outcome('Action runs', '/runs?kind=action', activity.actions)}
      <ChartCard title="Records changed by syncs" href={path('/runs?kind=sync')}>
        <Chart
          label="Records changed by syncs"
          times={activity.times}
          series={[{ label: 'changes', color: '--series-1', values: activity.records }]}
        />
      </ChartCard>
      {activity.webhooks !== null && outcome('Webhooks out', '/webhooks-out', activity.webhooks)}
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
