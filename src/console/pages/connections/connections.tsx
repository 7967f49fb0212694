import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Input, ConnectToken } from '#client/index.ts';
import { nameOfConnection } from '../../data/connection-names.ts';
import { membersOf } from '../../data/members.ts';
import { useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useScrolledList } from '../../data/scrolled-list.ts';
import { useSort } from '../../data/sort.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { LinkButton } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { ScrolledTable, type Column } from '../../design/table.tsx';
import { Time, exact } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import {
  FilterBar,
  FilterSelect,
  FilterText,
  IntegrationFilter,
  useIntegrationChoices,
} from '../../shell/filter.tsx';
import { ScrolledState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

type Connection = Answer<'GET /connections'>['connections'][number];

const pageSize = 200;
const nameOf = ({ connection_id: id, end_user: user }: Connection): string =>
  nameOfConnection(id, user);
const keyOf = ({ id }: Connection): string => String(id);

type ConnectionQuery = NonNullable<Input<'GET /connections'>['query']>;

/** Kinds of errors that the API filters by. */
const errorKinds = membersOf<NonNullable<ConnectionQuery['errors']>>({
  any: true,
  auth: true,
  sync: true,
  none: true,
});

function queryOf(filters: UrlState): ConnectionQuery {
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
    <FilterBar filters={filters}>
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
    </FilterBar>
  );
}

function ConnectionsTable({ filters }: { readonly filters: UrlState }): JSX.Element {
  const { path } = useAccess();
  const sort = useSort();
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
      <ScrolledTable
        label="Connections"
        columns={columnsOf(path)}
        source={list}
        keyOf={keyOf}
        sort={sort}
      />
    </ScrolledState>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<Connection>[] => [
  {
    title: 'Connection',
    sortBy: (row) => nameOf(row),
    cell: (row) => (
      <Link
        class="clip"
        title={`${nameOf(row)}\n${row.connection_id}`}
        href={path(pathOf('connections', row.provider_config_key, row.connection_id))}
      >
        {nameOf(row)}
      </Link>
    ),
  },
  {
    title: 'Integration',
    fit: 'short',
    narrow: 'below',
    sortBy: (row) => row.provider_config_key,
    cell: (row) => <Clip text={row.provider_config_key} />,
  },
  { title: 'Id', fit: 'short', cell: ({ connection_id: id }) => <Clip text={id} isMono /> },
  {
    title: 'State',
    sortBy: ({ errors }) => errors.map(({ type }) => type).join(' '),
    fit: 'tight',
    narrow: 'top end',
    cell: ({ errors }) =>
      errors.length === 0 ? (
        <Badge tone="good">ok</Badge>
      ) : (
        <Badge tone="bad">
          {[...new Set(errors.map(({ type }) => `${type} error`))].join(', ')}
        </Badge>
      ),
  },
  {
    title: 'Created',
    fit: 'tight',
    narrow: 'below end',
    sortBy: ({ created }) => created,
    cell: ({ created }) => <Time at={created} />,
  },
];

/** Creates a connect session and opens the connect page. */
export function Connect(): JSX.Element {
  const { path } = useAccess();
  const integrations = useIntegrationChoices();
  return (
    <Page
      title="Connect an account"
      about="Opens the connect page, as your users see it, in a new window."
      crumbs={[['Connections', path('/connections')]]}
    >
      {integrations.length === 0 ? (
        <Empty
          title="No integrations yet"
          action={
            <LinkButton href={path('/integrations/new')} tone="primary" icon="plus">
              Add an integration
            </LinkButton>
          }
        >
          An account belongs to an integration: add one first.
        </Empty>
      ) : (
        <ConnectForm />
      )}
    </Page>
  );
}

function ConnectForm(): JSX.Element {
  const filters = useUrlState();
  const integrations = useIntegrationChoices();
  const [user, setUser] = useState('console-user');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const integration = filters.sent('integration');
  const create = useChange(
    (client) =>
      client.request('POST /connect/sessions', {
        body: {
          end_user: {
            id: user,
            ...(name === '' ? {} : { display_name: name }),
            ...(email === '' ? {} : { email }),
          },
          ...(integration === undefined ? {} : { allowed_integrations: [integration] }),
        },
      }),
    {
      showsFailure: true,
      onDone: ({ data }) => void window.open(data.connect_link, '_blank', 'noopener'),
    },
  );
  return (
    <ChangeForm
      change={create}
      verb="Open the connect page"
      icon="external"
      isCard
      outcome={create.data !== undefined && <Opened session={create.data.data} />}
    >
      <Select
        label="Integration"
        value={integration ?? ''}
        choices={[{ value: '', label: 'The user chooses' }, ...integrations]}
        onChange={(value) => filters.set({ integration: value })}
      />
      <TextField
        label="End user"
        hint="The id of the person in your application"
        value={user}
        isRequired
        onInput={setUser}
      />
      <TextField
        label="Name"
        hint="What the connection is called here, such as the person or the company"
        value={name}
        onInput={setName}
      />
      <TextField label="Email" value={email} onInput={setEmail} />
    </ChangeForm>
  );
}

function Opened({ session }: { readonly session: ConnectToken }): JSX.Element {
  const { path } = useAccess();
  return (
    <Notice tone="good">
      <p>
        The page is open in another window, until {exact(new Date(session.expires_at))}. The account
        appears under connections.
      </p>
      <div class="row">
        <a href={session.connect_link} target="_blank" rel="noopener noreferrer">
          Open it again
        </a>
        <CopyButton text={session.connect_link} label="Copy the link" />
        <LinkButton href={path('/connections')} isSmall>
          Connections
        </LinkButton>
      </div>
    </Notice>
  );
}
