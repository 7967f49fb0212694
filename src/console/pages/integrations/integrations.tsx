import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Answer } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState } from '../../data/url-state.ts';
import { LinkButton } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterBar, FilterText } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { logoPath, modeLabels } from './provider-words.ts';

type Integration = Answer<'GET /integrations'>['data'][number];

export function Integrations(): JSX.Element {
  const { can, path } = useAccess();
  const filters = useUrlState();
  const sort = useSort();
  const query = useRead('GET /integrations', { query: { credentials: 'none', include: 'usage' } });
  const search = filters.get('search').toLowerCase();
  return (
    <Page
      title="Integrations"
      about="The products that your users connect, each with your app there."
      actions={
        can('environment:integrations:create') && (
          <LinkButton href={path('/integrations/new')} tone="primary" icon="plus">
            Add an integration
          </LinkButton>
        )
      }
    >
      <FilterBar filters={filters}>
        <FilterText filters={filters} name="search" label="Search" type="search" isWide />
      </FilterBar>
      <LoadedState query={query}>
        {({ data }) => {
          const rows = data.filter(({ unique_key: key, display_name: name, provider }) =>
            `${key} ${name} ${provider}`.toLowerCase().includes(search),
          );
          if (rows.length > 0)
            return (
              <Table
                label="Integrations"
                columns={columnsOf(path)}
                rows={rows}
                sort={sort}
                keyOf={({ unique_key: key }) => key}
              />
            );
          return data.length > 0 ? (
            <Empty title="No integration matches">Change the search.</Empty>
          ) : (
            <Empty title="No integrations yet" command="npx svc integrations create">
              Add an integration here, or with the command line; then connect an account of it.
            </Empty>
          );
        }}
      </LoadedState>
    </Page>
  );
}

const modeOf = ({ auth_mode: mode }: Integration): string =>
  mode == null ? '–' : modeLabels[mode];

const columnsOf = (path: (page: string) => string): readonly Column<Integration>[] => [
  {
    title: 'Integration',
    sortBy: ({ display_name: name }) => name,
    cell: (row) => (
      <span class="row">
        <img src={logoPath(row.logo)} alt="" width={20} height={20} />
        <Link
          href={path(pathOf('integrations', row.unique_key))}
          class="clip grow"
          title={row.display_name}
        >
          {row.display_name}
        </Link>
      </span>
    ),
  },
  {
    title: 'Key',
    sortBy: ({ unique_key: key }) => key,
    cell: ({ unique_key: key }) => <Clip text={key} isMono />,
  },
  {
    title: 'Provider',
    narrow: 'below',
    sortBy: ({ provider }) => provider,
    cell: ({ provider }) => <Clip text={provider} />,
  },
  {
    title: 'Authentication',
    sortBy: (row) => modeOf(row),
    cell: (row) => <Clip text={modeOf(row)} />,
  },
  {
    title: 'Connections',
    fit: 'end',
    narrow: 'top end',
    sortBy: ({ connections = 0 }) => connections,
    cell: ({ unique_key: key, connections = 0 }) => (
      <Link href={path(`/connections?integration=${encodeURIComponent(key)}`)}>
        {connections.toLocaleString('en')}
      </Link>
    ),
  },
  {
    title: 'Created',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ created_at: at }) => at,
    cell: ({ created_at: at }) => <Time at={at} />,
  },
];
