import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Input } from '#client/index.ts';
import { useStream } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useScrolledList } from '../../data/scrolled-list.ts';
import { useSort } from '../../data/sort.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Empty } from '../../design/states.tsx';
import { ScrolledTable, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { ScrolledState } from '../../shell/loaded.tsx';

type RunSummary = Answer<'GET /runs'>['data'][number];

const pageSize = 200;
/** Beside the stream, for what the table had not reached when it was read after an event. */
const checkedEveryMs = 30_000;
/** Without the stream. */
const polledEveryMs = 3_000;
const keyOf = ({ id }: RunSummary): string => id;

interface RunsTableProps {
  readonly query: NonNullable<Input<'GET /runs'>['query']>;
}

/** Runs that match, newest first; the list is live. */
export function RunsTable({ query }: RunsTableProps): JSX.Element {
  const { path } = useAccess();
  const sort = useSort();
  const refresh = useRef(() => {});
  const { since: _since, search: _search, ...filter } = query;
  const isStreamed = useStream('GET /runs/tail', { query: filter }, () => refresh.current());
  const list = useScrolledList(
    'GET /runs',
    { query: { ...query, limit: pageSize } },
    ({ data }) => data,
    { keyOf, everyMs: isStreamed ? checkedEveryMs : polledEveryMs },
  );
  refresh.current = list.refresh;
  return (
    <ScrolledState
      list={list}
      noun="run"
      empty={
        <Empty title="No runs" command="npx svc sync run <sync>">
          None of the last 24 hours matches. Choose another time, or run a sync:
        </Empty>
      }
    >
      <ScrolledTable
        label="Runs"
        columns={runColumns(path)}
        source={list}
        keyOf={keyOf}
        sort={sort}
      />
    </ScrolledState>
  );
}

/** What a queued run waits for. */
export const waitsText = ({ concurrency, position }: NonNullable<RunSummary['waiting']>): string =>
  `Number ${position} of the runs that wait: its function runs ${concurrency} at the same time on the connection`;

const countsText = (counts: RunSummary['counts']): string => {
  const totals = Object.values(counts);
  if (totals.length === 0) return '–';
  const sum = (field: 'added' | 'updated' | 'deleted'): number =>
    totals.reduce((total, one) => total + one[field], 0);
  return `+${sum('added')} ~${sum('updated')} −${sum('deleted')}`;
};

const runColumns = (path: (page: string) => string): readonly Column<RunSummary>[] => [
  {
    title: 'Function',
    fit: 'short',
    sortBy: ({ function: name }) => name,
    cell: ({ id, function: name, variant }) => (
      <Link href={path(pathOf('runs', id))} class="clip" title={name}>
        {variant === 'base' ? name : `${name} · ${variant}`}
      </Link>
    ),
  },
  { title: 'Kind', fit: 'tight', sortBy: ({ kind }) => kind, cell: ({ kind }) => kind },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    sortBy: ({ status }) => status,
    cell: ({ status, waiting }) => (
      <span title={waiting === null ? undefined : waitsText(waiting)}>
        <StateBadge state={status} />
        {waiting === null ? '' : ` ${waiting.position}.`}
      </span>
    ),
  },
  {
    title: 'Connection',
    narrow: 'below',
    cell: ({ connection_id: id, provider_config_key: integration }) => (
      <ConnectionLink integration={integration} id={id} />
    ),
  },
  { title: 'Records', fit: 'end', cell: ({ counts }) => countsText(counts) },
  {
    title: 'Duration',
    fit: 'end',
    sortBy: ({ duration_ms: ms }) => ms,
    cell: ({ duration_ms: ms }) => duration(ms),
  },
  {
    title: 'Queued',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ queued_at: at }) => at,
    cell: ({ queued_at: at }) => <Time at={at} />,
  },
];
