import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { Provider, Answer, Input } from '#client/index.ts';
import { useRead, useChange } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { LinkButton } from '../../design/button.tsx';
import { TextField, TextArea } from '../../design/field.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ChangeForm } from '../../shell/change-form.tsx';
import { FilterText } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

type Integration = Answer<'GET /integrations'>['data'][number];

export function Integrations(): JSX.Element {
  const { can, path } = useAccess();
  const filters = useUrlState();
  const query = useRead('GET /integrations', { query: { credentials: 'none' } });
  const search = filters.get('search').toLowerCase();
  return (
    <Page
      title="Integrations"
      about="Providers of the catalog under your own name, with the settings of your app there."
      actions={
        can('environment:integrations:create') && (
          <LinkButton href={path('/integrations/new')} tone="primary" icon="plus">
            Add an integration
          </LinkButton>
        )
      }
    >
      <div class="filters" role="search">
        <FilterText filters={filters} name="search" label="Search" type="search" isWide />
      </div>
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
                keyOf={({ unique_key: key }) => key}
              />
            );
          return data.length > 0 ? (
            <Empty title="No integration matches">Change the search.</Empty>
          ) : (
            <Empty title="No integrations yet" command="npx svc doctor">
              Add an integration here; then connect an account of it.
            </Empty>
          );
        }}
      </LoadedState>
    </Page>
  );
}

/** The logo's address names the gateway's own host; on the same origin its path is enough. */
export const logoOf = ({ logo }: { readonly logo: string }): string => {
  try {
    return new URL(logo, location.href).pathname;
  } catch {
    return logo;
  }
};

const columnsOf = (path: (page: string) => string): readonly Column<Integration>[] => [
  {
    title: 'Integration',
    cell: (row) => (
      <span class="row">
        <img src={logoOf(row)} alt="" width={20} height={20} />
        <Link href={path(pathOf('integrations', row.unique_key))} class="clip grow">
          {row.display_name}
        </Link>
      </span>
    ),
  },
  { title: 'Key', cell: ({ unique_key: key }) => <span class="clip mono">{key}</span> },
  { title: 'Provider', cell: ({ provider }) => <span class="clip">{provider}</span> },
  {
    title: 'Connections',
    fit: 'tight',
    cell: ({ unique_key: key }) => (
      <Link href={path(`/connections?integration=${encodeURIComponent(key)}`)}>Connections</Link>
    ),
  },
  { title: 'Created', fit: 'tight', cell: ({ created_at: at }) => <Time at={at} /> },
];

export function NewIntegration(): JSX.Element {
  const { path } = useAccess();
  return (
    <Page title="Add an integration" crumbs={[['Integrations', path('/integrations')]]}>
      <NewIntegrationForm />
    </Page>
  );
}

function useCreate(body: Input<'POST /integrations'>['body']) {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const { unique_key: key } = body;
  return useChange((client) => client.request('POST /integrations', { body }), {
    done: `${key} was added`,
    onDone: () => navigate(path(pathOf('integrations', key))),
    showsFailure: true,
  });
}

function NewIntegrationForm(): JSX.Element {
  const [provider, setProvider] = useState('');
  const [name, setName] = useState('');
  const [app, setApp] = useState<App>({});
  const providers = useRead('GET /providers', {});
  const chosen = providers.data?.data.find((one) => one.name === provider);
  const mode = chosen?.auth_mode ?? '';
  const create = useCreate({
    provider,
    unique_key: name === '' ? provider : name,
    ...(hasApp(mode) ? { credentials: credentialsOf(mode, app) } : {}),
  });
  return (
    <ChangeForm change={create} verb="Add the integration" isCard>
      <TextField
        label="Provider"
        hint={chosen === undefined ? 'Of the catalog' : `${chosen.display_name}, ${mode}`}
        value={provider}
        isRequired
        suggestions={(providers.data?.data ?? []).map((one) => one.name)}
        onInput={setProvider}
      />
      <TextField
        label="Key"
        hint="Your own name of the integration in requests; empty: that of the provider"
        placeholder={provider}
        value={name}
        onInput={setName}
      />
      {hasApp(mode) && <AppFields mode={mode} app={app} onChange={setApp} />}
    </ChangeForm>
  );
}

type Field =
  | 'client_id'
  | 'client_secret'
  | 'scopes'
  | 'webhook_secret'
  | 'app_id'
  | 'app_link'
  | 'private_key';

/** What the provider gave the operator for an app there; a field that is absent is empty. */
export type App = Readonly<Partial<Record<Field, string>>>;

const client: readonly Field[] = ['client_id', 'client_secret'];
const optional: readonly Field[] = ['scopes', 'webhook_secret'];
const installed: readonly Field[] = ['app_id', 'app_link', 'private_key'];

/** The modes in which an integration has credentials of its own (docs/reference/auth-modes.md#overview). */
const fieldsOfModes: Readonly<Record<Provider['auth_mode'], readonly Field[]>> = {
  OAUTH1: [...client, ...optional],
  OAUTH2: [...client, ...optional],
  TBA: [...client, ...optional],
  APP: installed,
  CUSTOM: [...client, ...installed],
  OAUTH2_CC: [],
  BASIC: [],
  API_KEY: [],
  APP_STORE: [],
  NONE: [],
  JWT: [],
  BILL: [],
  TWO_STEP: [],
  SIGNATURE: [],
};

const fieldsOfMode = (mode: string): readonly Field[] =>
  new Map<string, readonly Field[]>(Object.entries(fieldsOfModes)).get(mode) ?? [];

export const hasApp = (mode: string): boolean => fieldsOfMode(mode).length > 0;

/** Without the optional fields that are empty: those keep the value that they have. */
export const credentialsOf = (mode: string, app: App) => ({
  type: mode,
  ...Object.fromEntries(
    fieldsOfMode(mode)
      .map((field) => [field, app[field] ?? ''] as const)
      .filter(([field, value]) => value !== '' || !optional.includes(field)),
  ),
});

const labels: Readonly<Record<Field, string>> = {
  client_id: 'Client id',
  client_secret: 'Client secret',
  scopes: 'Scopes',
  webhook_secret: 'Webhook secret',
  app_id: 'App id',
  app_link: 'Link to the page that installs the app',
  private_key: 'Private key',
};

const hints: Readonly<Partial<Record<Field, string>>> = {
  scopes: 'With commas between them; empty: as before, or those of the provider',
  webhook_secret: 'With which the provider signs its webhooks; empty: as before',
  private_key: 'RSA key in PEM, from -----BEGIN to the last -----',
};

interface AppFieldsProps {
  readonly mode: string;
  readonly app: App;
  readonly onChange: (app: App) => void;
}

export const AppFields = ({ mode, app, onChange }: AppFieldsProps): JSX.Element => (
  <>
    {fieldsOfMode(mode).map((field) => {
      const value = app[field] ?? '';
      const onInput = (text: string): void => onChange({ ...app, [field]: text });
      return field === 'private_key' ? (
        <TextArea
          key={field}
          label={labels[field]}
          hint={hints[field]}
          value={value}
          onInput={onInput}
        />
      ) : (
        <TextField
          key={field}
          label={labels[field]}
          hint={hints[field]}
          type={field.endsWith('_secret') ? 'password' : 'text'}
          value={value}
          isRequired={!optional.includes(field)}
          onInput={onInput}
        />
      );
    })}
  </>
);
