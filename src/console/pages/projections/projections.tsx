import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Projection } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function Projections(): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /projections', {}, { everyMs: 3_000 });
  return (
    <Page
      title="Projections"
      about="Tables that are read by the API, fed from topics. Each can be rebuilt from the log while it is read."
    >
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Projections"
            columns={columnsOf(path)}
            rows={data}
            keyOf={({ name }) => name}
          />
        )}
      </LoadedState>
    </Page>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<Projection>[] => [
  {
    title: 'Name',
    cell: ({ name }) => <Link href={path(pathOf('projections', name))}>{name}</Link>,
  },
  {
    title: 'Generations',
    fit: 'tight',
    cell: ({ generations }) => (
      <span class="row">
        {generations.map(({ generation, state }) => (
          <StateBadge key={generation} state={state} />
        ))}
      </span>
    ),
  },
  { title: 'Topic', cell: ({ topic }) => <span class="clip mono">{topic}</span> },
  {
    title: 'Position',
    fit: 'end',
    cell: ({ position, end }) => `${position.toLocaleString('en')} of ${end.toLocaleString('en')}`,
  },
  { title: 'Lag', fit: 'end', cell: ({ lag }) => lag.toLocaleString('en') },
  { title: 'Rows', fit: 'end', cell: ({ rows }) => rows.toLocaleString('en') },
];
