import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Input } from '#client/index.ts';
import { dayMs, localTimeOf } from '../../data/local-time.ts';
import { membersOf } from '../../data/members.ts';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge, Badge, type Tone } from '../../design/badge.tsx';
import { Clip } from '../../design/clip.tsx';
import { Json } from '../../design/code.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Empty, SkeletonRows } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, Time, exact } from '../../design/time.tsx';
import { useAccess, accountKeyOf, useAccessOf, useSession } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import {
  ConnectionFilter,
  FilterBar,
  FilterSelect,
  FilterText,
  IntegrationFilter,
} from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { lazy } from '../lazy.tsx';
import { failedCallId, failedEntry, RunFailure } from './failure.tsx';
import { RunActions } from './run-actions.tsx';
import type { RunDetail } from './run-detail.ts';
import { RunsTable, waitsText } from './runs-table.tsx';

type Query = NonNullable<Input<'GET /runs'>['query']>;

const kinds = membersOf<NonNullable<Query['kind']>[number]>({
  sync: true,
  action: true,
  'on-event': true,
  'on-change': true,
  webhook: true,
  dryrun: true,
  revert: true,
});
const states = membersOf<NonNullable<Query['status']>[number]>({
  queued: true,
  running: true,
  succeeded: true,
  failed: true,
  cancelled: true,
  timed_out: true,
  interrupted: true,
});

/** The value of the address as a value of the API; undefined unless it is one. */
const oneOf = <Value extends string>(
  values: readonly Value[],
  text: string,
): readonly Value[] | undefined => {
  const found = values.find((value) => value === text);
  return found === undefined ? undefined : [found];
};

const periods = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
] as const;

/** Start of the period, on a whole hour so that the list stays the same between two readings. */
function sinceOf(days: string): string | undefined {
  if (!periods.some(({ value }) => value === days)) return undefined;
  const at = new Date();
  at.setMinutes(0, 0, 0);
  return new Date(at.getTime() - Number(days) * dayMs).toISOString();
}

export function Runs(): JSX.Element {
  const filters = useUrlState();
  const query: Query = {
    search: filters.sent('search'),
    kind: oneOf(kinds, filters.get('kind')),
    status: oneOf(states, filters.get('status')),
    function: filters.sent('function'),
    provider_config_key: filters.sent('integration'),
    connection_id: filters.sent('connection'),
    since: sinceOf(filters.get('days')),
  };
  return (
    <Page
      title="Runs"
      about="Runs of syncs, actions and on-event functions, newest first. The list is live."
    >
      <FilterBar filters={filters}>
        <FilterText
          filters={filters}
          name="search"
          label="Search"
          type="search"
          placeholder="Function, connection or person"
          isWide
        />
        <FilterSelect filters={filters} name="status" label="State" values={states} />
        <FilterSelect filters={filters} name="kind" label="Kind" values={kinds} />
        <IntegrationFilter filters={filters} />
        <ConnectionFilter filters={filters} />
        {filters.get('function') !== '' && (
          <FilterText filters={filters} name="function" label="Function" type="search" />
        )}
        <FilterSelect
          filters={filters}
          name="days"
          label="Period"
          none="24 hours"
          values={periods}
        />
      </FilterBar>
      <RunsTable query={query} />
    </Page>
  );
}

export function Run(): JSX.Element {
  const { path } = useAccess();
  const [, id = '', part] = useParts();
  const tab = runTabs.find((one) => one.id === part)?.id ?? 'timeline';
  const query = useRead('GET /runs/{id}', { params: { id } }, { everyMs: 2_000 });
  const run = query.data?.data;
  return (
    <Page
      title={run === undefined ? 'Run' : run.function}
      crumbs={[['Runs', path('/runs')]]}
      actions={run !== undefined && <RunActions run={run} />}
    >
      <LoadedState query={query}>
        {({ data }) => (
          <div class="stack">
            <RunFailure run={data} />
            <div class="card padded">
              <Facts run={data} />
            </div>
            <LinkTabs
              label="Run"
              current={tab}
              tabs={runTabs.map((one) => ({
                ...one,
                href: path(`${pathOf('runs', id)}${one.id === 'timeline' ? '' : `/${one.id}`}`),
              }))}
            />
            {tab === 'timeline' ? (
              <Course run={data} />
            ) : (
              <OperationMessages operationId={data.log_id} />
            )}
          </div>
        )}
      </LoadedState>
    </Page>
  );
}

const OperationMessages = lazy(
  async () => (await import('../logs/operation.tsx')).OperationMessages,
  () => <SkeletonRows />,
);

const runTabs = [
  { id: 'timeline', label: 'Timeline' },
  { id: 'logs', label: 'Logs' },
] as const;

/** What the run did, where it wrote and how far it came. */
const Course = ({ run }: { readonly run: RunDetail }): JSX.Element => (
  <>
    <Timeline run={run} />
    <Positions run={run} />
    {run.checkpoint_to !== null && (
      <>
        <h2>Checkpoint</h2>
        <Json label="Checkpoint" value={{ from: run.checkpoint_from, to: run.checkpoint_to }} />
      </>
    )}
  </>
);

function Facts({ run }: { readonly run: RunDetail }): JSX.Element {
  const { path } = useAccess();
  const { provider_config_key: integration, connection_id: connection } = run;
  return (
    <KeyValues
      rows={[
        ['State', <StateBadge key="state" state={run.status} />],
        ['Kind', run.kind],
        ['Version', run.function_version],
        [
          'Connection',
          <ConnectionLink key="connection" integration={integration} id={connection} />,
        ],
        ['Trigger', run.trigger],
        ['Waits', run.waiting === null ? undefined : waitsText(run.waiting)],
        ['Attempt', run.attempt],
        ['Queued', <Time key="queued" at={run.queued_at} />],
        ['Started', <Time key="started" at={run.started_at} />],
        ['Duration', duration(run.duration_ms)],
        ...Object.entries(run.counts).map(
          ([model, counts]) =>
            [
              model,
              `${counts.added} added, ${counts.updated} updated, ${counts.deleted} deleted, ${counts.unchanged} unchanged`,
            ] as const,
        ),
        [
          'Run id',
          <span key="id" class="row">
            <span class="mono">{run.id}</span>
            <CopyButton text={run.id} label="Copy the run id" />
          </span>,
        ],
        [
          'Log',
          <Link key="log" href={path(pathOf('logs', run.log_id))}>
            Messages of this run
          </Link>,
        ],
      ]}
    />
  );
}

type Entry = RunDetail['timeline'][number];

function Timeline({ run }: { readonly run: RunDetail }): JSX.Element {
  if (run.timeline.length === 0)
    return <Empty title="Nothing yet">The run has not done anything that is recorded.</Empty>;
  const start = new Date(run.queued_at).getTime();
  const failed = failedEntry(run);
  const rows = run.timeline.map((entry, index) => ({ entry, index, isFailed: index === failed }));
  return (
    <Table
      label="Timeline"
      rows={rows}
      keyOf={({ index }) => String(index)}
      columns={columnsOf(start, run.attempt > 1)}
    />
  );
}

interface Row {
  readonly entry: Entry;
  readonly index: number;
  /** The request whose error ended the run. */
  readonly isFailed: boolean;
}

const columnsOf = (start: number, hasAttempts: boolean): readonly Column<Row>[] => [
  {
    title: 'After',
    fit: 'end',
    cell: ({ entry }) => (
      <span class="muted" title={exact(new Date(entry.at))}>
        {duration(Math.max(0, new Date(entry.at).getTime() - start))}
      </span>
    ),
  },
  ...(hasAttempts
    ? [{ title: 'Attempt', fit: 'end' as const, cell: ({ entry }: Row) => entry.attempt }]
    : []),
  {
    title: 'What',
    fit: 'tight',
    cell: ({ entry }) => <Badge tone={toneOf(entry)}>{entry.what.replaceAll('_', ' ')}</Badge>,
  },
  {
    title: 'Details',
    cell: ({ entry, isFailed }) =>
      isFailed ? (
        <span id={failedCallId}>
          <Details entry={entry} />
        </span>
      ) : (
        <Details entry={entry} />
      ),
  },
  { title: 'Duration', fit: 'end', cell: ({ entry }) => duration(entry.duration_ms) },
];

function toneOf({ what, status, level }: Entry): Tone {
  if (level === 'error' || what === 'failed' || (status !== undefined && status >= 400))
    return 'bad';
  if (level === 'warn') return 'warn';
  if (what === 'succeeded') return 'good';
  return what === 'request' ? 'info' : 'plain';
}

function Details({ entry }: { readonly entry: Entry }): JSX.Element {
  const { method, path, status, model, count, message } = entry;
  if (what(entry) === 'request')
    return <Clip text={`${method ?? ''} ${path ?? ''} ${status ?? 'no response'}`} isMono />;
  const saved = model === undefined ? '' : `${model} ${count?.toLocaleString('en') ?? ''}`;
  return (
    <Clip text={[saved, message].filter((text) => text !== '' && text !== undefined).join(' · ')} />
  );
}

const what = ({ what: name, method }: Entry): string => (method === undefined ? name : 'request');

type RunEvent = RunDetail['events'][number];

/** Where the run wrote on the topics, with links to the messages for those who may read them. */
function Positions({ run }: { readonly run: RunDetail }): JSX.Element {
  const account = useAccessOf(accountKeyOf(useSession()));
  const canRead = account?.can('account:topics:read_messages') === true;
  return (
    <>
      <h2>Events</h2>
      <Table
        label="Events"
        rows={run.events}
        keyOf={({ topic, model, partition }) => `${topic} ${model ?? ''} ${partition}`}
        columns={[
          { title: 'Topic', cell: ({ topic }) => <Clip text={topic} isMono /> },
          { title: 'Model', cell: ({ model }) => model ?? '–' },
          { title: 'Messages', fit: 'end', cell: ({ count }) => count.toLocaleString('en') },
          {
            title: 'Position',
            fit: 'tight',
            cell: (written) =>
              canRead ? (
                <Link href={account.path(messagesOf(written, run))}>{positionOf(written)}</Link>
              ) : (
                positionOf(written)
              ),
          },
        ]}
      />
    </>
  );
}

function positionOf({ partition, first_offset: first, last_offset: last }: RunEvent): string {
  if (first === null) return `${partition}/ up to ${last}`;
  return first === last ? `${partition}/${last}` : `${partition}/${first} to ${last}`;
}

/** The messages from the first one on; where it is not known, from the start of the run on. */
function messagesOf({ topic, partition, first_offset: first }: RunEvent, run: RunDetail): string {
  const from: Record<string, string> =
    first === null
      ? { by: 'since', since: localTimeOf(new Date(run.started_at ?? run.queued_at)) }
      : { by: 'offset', offset: String(first) };
  const search = new URLSearchParams({ partition: String(partition), ...from });
  return `${pathOf('topics', topic, 'messages')}?${search.toString()}`;
}
