import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Statistics } from '#client/index.ts';
import type { Series } from '../../design/chart.tsx';
import { Empty } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { lazy } from '../lazy.tsx';

/** Its library is a fifth of the page: the rest is there before it. */
const Chart = lazy(
  async () => (await import('../../design/chart.tsx')).Chart,
  () => <div class="chart" />,
);

interface Volume {
  readonly title: string;
  readonly page: string;
  readonly series: readonly Series[];
}

/** What happened in each step of time: a chart for each kind of which something happened. */
export function Volumes({ statistics }: { readonly statistics: Statistics }): JSX.Element {
  const { path } = useAccess();
  const shown = volumesOf(statistics).filter(({ series }) => series.some(hasValues));
  if (shown.length === 0)
    return (
      <Empty title="Nothing happened in this time">
        Runs, requests and webhooks appear here as they come.
      </Empty>
    );
  return (
    <div class="columns small">
      {shown.map(({ title, page, series }) => (
        <ChartCard key={title} title={title} href={path(page)}>
          <Chart label={title} times={statistics.times} series={series} />
        </ChartCard>
      ))}
    </div>
  );
}

const hasValues = ({ values }: Series): boolean => values.some((value) => value > 0);

function volumesOf({ series }: Statistics): readonly Volume[] {
  const counts = (
    title: string,
    page: string,
    label: string,
    values: readonly number[],
  ): Volume => ({
    title,
    page,
    series: [{ label, color: '--series-1', values }],
  });
  const outcomes = (
    title: string,
    page: string,
    succeeded: readonly number[],
    failed: readonly number[],
  ): Volume => ({
    title,
    page,
    series: [
      { label: 'succeeded', color: '--series-3', values: succeeded },
      { label: 'failed', color: '--series-2', values: failed },
    ],
  });
  const calls = series.proxy_requests.map((all, at) => all - (series.proxy_failed[at] ?? 0));
  return [
    counts('Records', '/runs?kind=sync', 'changes', series.records_changed),
    outcomes('Sync runs', '/runs?kind=sync', series.sync_runs_succeeded, series.sync_runs_failed),
    outcomes(
      'Action runs',
      '/runs?kind=action',
      series.action_runs_succeeded,
      series.action_runs_failed,
    ),
    outcomes('Webhooks out', '/webhooks-out', series.webhooks_delivered, series.webhooks_failed),
    counts('Webhooks in', '/webhooks-in', 'received', series.webhooks_received),
    outcomes('Proxy requests', '/logs?type=proxy', calls, series.proxy_failed),
    outcomes(
      'Authorizations',
      '/logs?type=auth',
      series.authorizations_succeeded,
      series.authorizations_failed,
    ),
  ];
}

interface ChartCardProps {
  readonly title: string;
  readonly href: string;
  readonly children: ComponentChildren;
}

const ChartCard = ({ title, href, children }: ChartCardProps): JSX.Element => (
  <section class="card padded">
    <h3>
      <Link href={href}>{title}</Link>
    </h3>
    {children}
  </section>
);
