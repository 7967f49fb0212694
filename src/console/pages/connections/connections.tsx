import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import { useQuery } from '@tanstack/preact-query';
import type { Answer } from '../../../client/index.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { LinkButton } from '../../design/button.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterSelect, FilterText, IntegrationFilter } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

type Connection = Answer<'GET /connections'>['connections'][number];

const pageSize = 2000;
/** More than these are found by a filter. */
const shownAtMost = 20_000;

/** Kinds of errors that the API filters by. */
const filtered = ['any', 'auth', 'sync'] as const;

/** All connections that match, up to twenty thousand: the table shows only those in view. */
function useConnections(filters: UrlState) {
  const { client, key } = useAccess();
  const search = filters.sent('search');
  const integration = filters.sent('integration');
  const tag = filters.get('tag').split(':', 2);
  const errors = filtered.find((one) => one === filters.get('errors'));
  return useQuery({
    queryKey: [key.id, 'GET /connections', search, integration, tag, errors],
    queryFn: async ({ signal }) => {
      const found: Connection[] = [];
      const pages = client.pages('GET /connections', {
        query: {
          search,
          integrationId: integration === undefined ? undefined : [integration],
          tags: tag[1] === undefined ? undefined : { [tag[0] ?? '']: tag[1] },
          errors,
          credentials: 'none',
          limit: pageSize,
        },
        signal,
      });
      for await (const { connections } of pages) {
        found.push(...connections);
        if (found.length >= shownAtMost) break;
      }
      return found;
    },
  });
}

export function Connections(): JSX.Element {
  const { can, path } = useAccess();
  const filters = useUrlState();
  const query = useConnections(filters);
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
      <LoadedState query={query}>
        {(all) => (
          <ConnectionsTable connections={matching(all, filters)} isFiltered={!filters.isEmpty} />
        )}
      </LoadedState>
    </Page>
  );
}

/** The API finds those with errors; those without are what is left of all. */
const matching = (all: readonly Connection[], filters: UrlState): readonly Connection[] =>
  filters.get('errors') === 'none' ? all.filter(({ errors }) => errors.length === 0) : all;

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

interface ConnectionsTableProps {
  readonly connections: readonly Connection[];
  readonly isFiltered: boolean;
}

function ConnectionsTable({ connections, isFiltered }: ConnectionsTableProps): JSX.Element {
  const { path } = useAccess();
  if (connections.length === 0)
    return isFiltered ? (
      <Empty title="No connection matches">Change or remove a filter.</Empty>
    ) : (
      <Empty title="No connections yet" command="npx svc connect <integration>">
        Connect an account here, or with the command line:
      </Empty>
    );
  return (
    <div class="stack">
      <Table
        label="Connections"
        columns={columnsOf(path)}
        rows={connections}
        keyOf={({ id }) => String(id)}
      />
      <span class="muted number">{connections.length.toLocaleString('en')} connections</span>
    </div>
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
