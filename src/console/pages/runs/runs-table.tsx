import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Input } from '#client/index.ts';
import { pathOf } from '../../data/route.ts';
import { useScrolledList } from '../../data/scrolled-list.ts';
import { useStream } from '../../data/stream.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Empty } from '../../design/states.tsx';
import { ScrolledTable, type Column } from '../../design/table.tsx';
import { duration, Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ScrolledState } from '../../shell/loaded.tsx';

type Run = Answer<'GET /runs'>['data'][number];

const pageSize = 200;
/** Beside the stream, for what the table had not reached when it was read after an event. */
const checkedEveryMs = 30_000;
/** Without the stream. */
const polledEveryMs = 3_000;
const keyOf = ({ id }: Run): string => id;

interface RunsTableProps {
  readonly query: NonNullable<Input<'GET /runs'>['query']>;
}

/** Runs that match, newest first; the list is live. */
export function RunsTable({ query }: RunsTableProps): JSX.Element {
  const { path } = useAccess();
  const refresh = useRef(() => {});
  const { since: _since, ...filter } = query;
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
      <ScrolledTable label="Runs" columns={columnsOf(path)} source={list} keyOf={keyOf} />
    </ScrolledState>
  );
}

export const countsText = (counts: Run['counts']): string => {
  const totals = Object.values(counts);
  if (totals.length === 0) return '–';
  const sum = (field: 'added' | 'updated' | 'deleted'): number =>
    totals.reduce((total, one) => total + one[field], 0);
  return `+${sum('added')} ~${sum('updated')} −${sum('deleted')}`;
};

const columnsOf = (path: (page: string) => string): readonly Column<Run>[] => [
  {
    title: 'Function',
    cell: ({ id, function: name, variant }) => (
      <Link href={path(pathOf('runs', id))} class="clip">
        {variant === 'base' ? name : `${name} · ${variant}`}
      </Link>
    ),
  },
  { title: 'Kind', fit: 'tight', cell: ({ kind }) => kind },
  { title: 'State', fit: 'tight', cell: ({ status }) => <StateBadge state={status} /> },
  {
    title: 'Connection',
    cell: ({ connection_id: id, provider_config_key: integration }) => (
      <Link href={path(pathOf('connections', integration, id))} class="clip" title={id}>
        {integration} / {id}
      </Link>
    ),
  },
  { title: 'Records', fit: 'end', cell: ({ counts }) => countsText(counts) },
  { title: 'Duration', fit: 'end', cell: ({ duration_ms: ms }) => duration(ms) },
  { title: 'Queued', fit: 'tight', cell: ({ queued_at: at }) => <Time at={at} /> },
];
