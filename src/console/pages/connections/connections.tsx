import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Answer, Input } from '#client/index.ts';
import { pathOf } from '../../data/route.ts';
import { useScrolledList } from '../../data/scrolled-list.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { LinkButton } from '../../design/button.tsx';
import { Empty } from '../../design/states.tsx';
import { ScrolledTable, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterSelect, FilterText, IntegrationFilter } from '../../shell/filter.tsx';
import { ScrolledState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

type Connection = Answer<'GET /connections'>['connections'][number];

const pageSize = 200;
const keyOf = ({ id }: Connection): string => String(id);

/** Kinds of errors that the API filters by. */
const errorKinds = ['any', 'auth', 'sync', 'none'] as const;

function queryOf(filters: UrlState): NonNullable<Input<'GET /connections'>['query']> {
  const integration = filters.sent('integration');
  const [name = '', value] = filters.get('tag').split(':', 2);
  return {
    search: filters.sent('search'),
    integrationId: integration === undefined ? undefined : [integration],
    tags: value === undefined ? undefined : { [name]: value },
    errors: errorKinds.find((one) => one === filters.get('errors')),
    credentials: 'none',
    limit: pageSize,
  };
}

export function Connections(): JSX.Element {
  const { can, path } = useAccess();
  const filters = useUrlState();
  const connect = can('environment:connect_sessions:write') && (
    <LinkButton href={path('/connect')} tone="primary" icon="plus">
      Connect an account
    </LinkButton>
  );
  return (
    <Page
      title="Connections"
      about="Accounts of your users at the providers, with their credentials."
      actions={connect}
    >
      <Filters filters={filters} />
      <ConnectionsTable filters={filters} />
    </Page>
  );
}

function Filters({ filters }: { readonly filters: UrlState }): JSX.Element {
  return (
    <div class="filters" role="search">
      <FilterText
        filters={filters}
        name="search"
        label="Search"
        type="search"
        placeholder="Connection, end user, email"
        isWide
      />
      <IntegrationFilter filters={filters} />
      <FilterSelect
        filters={filters}
        name="errors"
        label="Errors"
        values={[
          { value: 'any', label: 'Any error' },
          { value: 'auth', label: 'Authentication' },
          { value: 'sync', label: 'Sync' },
          { value: 'none', label: 'None' },
        ]}
      />
      <FilterText filters={filters} name="tag" label="Tag" placeholder="name:value" />
    </div>
  );
}

function ConnectionsTable({ filters }: { readonly filters: UrlState }): JSX.Element {
  const { path } = useAccess();
  const list = useScrolledList(
    'GET /connections',
    { query: queryOf(filters) },
    ({ connections }) => connections,
    { keyOf },
  );
  const empty = filters.isEmpty ? (
    <Empty title="No connections yet" command="npx svc connect <integration>">
      Connect an account here, or with the command line:
    </Empty>
  ) : (
    <Empty title="No connection matches">Change or remove a filter.</Empty>
  );
  return (
    <ScrolledState list={list} noun="connection" empty={empty}>
      <ScrolledTable label="Connections" columns={columnsOf(path)} source={list} keyOf={keyOf} />
    </ScrolledState>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<Connection>[] => [
  {
    title: 'Connection',
    cell: ({ connection_id: id, provider_config_key: integration }) => (
      <Link class="clip" title={id} href={path(pathOf('connections', integration, id))}>
        {id}
      </Link>
    ),
  },
  { title: 'Integration', cell: (row) => <span class="clip">{row.provider_config_key}</span> },
  {
    title: 'End user',
    cell: ({ end_user: user }) => (
      <span class="clip">{user?.display_name ?? user?.email ?? user?.id ?? '–'}</span>
    ),
  },
  {
    title: 'State',
    fit: 'tight',
    cell: ({ errors }) =>
      errors.length === 0 ? (
        <Badge tone="good">ok</Badge>
      ) : (
        <Badge tone="bad">
          {[...new Set(errors.map(({ type }) => `${type} error`))].join(', ')}
        </Badge>
      ),
  },
  { title: 'Created', fit: 'tight', cell: ({ created }) => <Time at={created} /> },
];
