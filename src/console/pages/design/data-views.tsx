import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { StateBadge } from '../../design/badge.tsx';
import { Chart } from '../../design/chart.tsx';
import { Code, Json } from '../../design/code.tsx';
import { Diff } from '../../design/diff.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { LoadMore } from '../../design/load-more.tsx';
import { ScrolledTable, Table, type Column } from '../../design/table.tsx';
import { LinkTabs } from '../../design/tabs.tsx';
import { duration, Time } from '../../design/time.tsx';
import { Section } from './section.tsx';

const value = { id: 'c-1', name: 'Ada', tags: ['a', 'b'], score: 4.5, active: true, note: null };
const long =
  'a-name-without-any-space-that-is-longer-than-every-column-of-the-table-can-be-'.repeat(2);
const minute = 60;

export function DataViews(): JSX.Element {
  const times = useMemo(() => Array.from({ length: 48 }, (_, index) => 1.8e9 + index * minute), []);
  const series = useMemo(
    () => [
      { label: 'first', color: '--series-1' as const, values: times.map((_, x) => (x * 7) % 13) },
      { label: 'second', color: '--series-2' as const, values: times.map((_, x) => (x * 3) % 7) },
    ],
    [times],
  );
  return (
    <div class="stack">
      <Section title="Table">
        <SmallTable count={3} />
      </Section>
      <Section title="Table of 10,000 rows">
        <SmallTable count={10_000} />
        <LoadMore shown={10_000} total={12_500} hasMore isBusy={false} onMore={() => undefined} />
      </Section>
      <Section title="Table whose rows are being read">
        <ScrolledTable label="Rows to come" source={coming} keyOf={String} columns={columns} />
      </Section>
      <Section title="Chart">
        <Chart label="An example" times={times} series={series} />
      </Section>
      <Section title="Key and value">
        <KeyValues
          rows={[
            ['Name', 'Ada'],
            ['Empty', null],
            ['Long', long],
          ]}
        />
      </Section>
      <Section title="Code and JSON">
        <Code label="Code" text="npm run svc -- help" />
        <Json label="JSON" value={value} />
      </Section>
      <Section title="Differences">
        <Diff before={value} after={{ ...value, name: 'Ada L.', note: 'new', tags: ['a'] }} />
        <Diff before={value} after={value} />
      </Section>
      <Section title="Tabs that are pages">
        <LinkTabs
          label="Example"
          current="one"
          tabs={[
            { id: 'one', label: 'One', href: '/design' },
            { id: 'two', label: 'Two', href: '/design?tab=two' },
          ]}
        />
      </Section>
    </div>
  );
}

const states = ['succeeded', 'failed', 'running'] as const;

const columns: readonly Column<number>[] = [
  { title: 'Name', cell: (row) => <span class="clip">{row === 1 ? long : `Row ${row}`}</span> },
  {
    title: 'State',
    fit: 'tight',
    cell: (row) => <StateBadge state={states[row % 3] ?? 'failed'} />,
  },
  { title: 'Duration', fit: 'end', cell: (row) => duration(row * 617) },
  { title: 'At', fit: 'tight', cell: () => <Time at="2026-01-01T00:00:00Z" /> },
];

const coming = {
  count: 120,
  hasMore: true,
  at: (index: number) => (index < 3 ? index : undefined),
  show: () => undefined,
};

const SmallTable = ({ count }: { readonly count: number }): JSX.Element => (
  <Table
    label={`${count} rows`}
    rows={Array.from({ length: count }, (_, index) => index)}
    keyOf={String}
    columns={columns}
  />
);
