import type { JSX } from 'preact';
import { Badge, type Tone } from '../../design/badge.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { duration, exact } from '../../design/time.tsx';
import type { RunDetail } from './run-detail.ts';

type Entry = RunDetail['timeline'][number];

export function Timeline({ run }: { readonly run: RunDetail }): JSX.Element {
  if (run.timeline.length === 0)
    return <Empty title="Nothing yet">The run has not done anything that is recorded.</Empty>;
  const start = new Date(run.queued_at).getTime();
  const rows = run.timeline.map((entry, index) => ({ entry, index }));
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
  { title: 'Details', cell: ({ entry }) => <Details entry={entry} /> },
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
    return (
      <span class="clip mono" title={path}>
        {method} {path} <b>{status ?? 'no response'}</b>
      </span>
    );
  const saved = model === undefined ? '' : `${model} ${count?.toLocaleString('en') ?? ''}`;
  return (
    <span class="clip" title={message}>
      {[saved, message].filter((text) => text !== '' && text !== undefined).join(' · ')}
    </span>
  );
}

const what = ({ what: name, method }: Entry): string => (method === undefined ? name : 'request');
