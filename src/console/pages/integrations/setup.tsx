import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Input, Provider } from '#client/index.ts';
import { fieldProblemsOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy-button.tsx';
import { Select, TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { useAccess } from '../../session/context.tsx';
import { Refusal } from '../../shell/change-form.tsx';
import { useIntegrationChoices } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import {
  AppFields,
  credentialsOf,
  hasApp,
  isAppOptional,
  inWordsOfFields,
  missingIn,
  type App,
  type AppField,
  type Problems,
} from './app-fields.tsx';
import { logoPath, modeLabels } from './provider-words.ts';
import { defaultScopes, ScopeFields, scopesProblem, scopesText, type Scopes } from './scopes.tsx';

/** Leads from a provider of the catalog to an integration of it. */
export function Setup(): JSX.Element {
  const { path } = useAccess();
  const [, , name = ''] = useParts();
  const query = useRead('GET /providers/{provider}', { params: { provider: name } });
  const title = query.data?.data.display_name ?? name;
  return (
    <Page
      title={`Set up ${title}`}
      crumbs={[
        ['Integrations', path('/integrations')],
        ['Add an integration', path('/integrations/new')],
      ]}
    >
      <LoadedState query={query}>
        {({ data }) => <SetupForm key={data.name} provider={data} />}
      </LoadedState>
    </Page>
  );
}

interface Draft {
  readonly app: App;
  readonly scopes: Scopes;
  readonly config: Readonly<Record<string, string>>;
  readonly displayName: string;
  /** Empty: the suggested one. */
  readonly key: string;
}

function SetupForm({ provider }: { readonly provider: Provider }): JSX.Element {
  const [draft, setDraft] = useState<Draft>({
    app: {},
    scopes: defaultScopes(provider),
    config: {},
    displayName: provider.display_name,
    key: '',
  });
  const [submits, setSubmits] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const { taken, suggestedKey } = useKeys(provider.name);
  const body = bodyOf(provider, { ...draft, key: draft.key || suggestedKey });
  const create = useCreate(body);
  const own = checkBody(provider, draft, taken);
  const problems: Problems = new Map([
    ...inWordsOfFields(fieldProblemsOf(create.error)),
    ...(submits > 0 ? own : []),
  ]);
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [submits, create.error]);
  const change = (changes: Partial<Draft>): void => {
    setDraft({ ...draft, ...changes });
    create.reset();
  };
  return (
    <form
      ref={form}
      class="stack guide"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setSubmits(submits + 1);
        if (own.size === 0) create.mutate();
      }}
    >
      <Introduction provider={provider} />
      {stepsOf({ provider, draft, problems, suggestedKey, onChange: change }).map(
        ([title, content], at) => (
          <section key={title} class="card padded stack">
            <h2 class="row nowrap">
              <span class="step" aria-hidden="true">
                {at + 1}
              </span>
              {title}
            </h2>
            {content}
          </section>
        ),
      )}
      <Refusal error={create.error} problems={problems} />
      <div>
        <Button type="submit" tone="primary" isBusy={create.isPending}>
          Add the integration
        </Button>
      </div>
    </form>
  );
}

function useCreate(body: Input<'POST /integrations'>['body']) {
  const { path } = useAccess();
  const [, navigate] = useLocation();
  const { unique_key: key } = body;
  return useChange((client) => client.request('POST /integrations', { body }), {
    done: `${key} was added`,
    onDone: () => navigate(path(`${pathOf('integrations', key)}/test`)),
    showsFailure: true,
  });
}

/** The keys that others have, and one that is free. */
function useKeys(name: string) {
  const taken = new Set(useIntegrationChoices().map(({ value }) => value));
  let suggestedKey = name;
  for (let count = 2; taken.has(suggestedKey); count += 1) suggestedKey = `${name}-${count}`;
  return { taken, suggestedKey };
}

function bodyOf(provider: Provider, draft: Draft): Input<'POST /integrations'>['body'] {
  const { name, auth_mode: mode, display_name: title, integration_config: fields } = provider;
  const { app, scopes, config, displayName, key } = draft;
  const scope = mode === 'OAUTH2' ? scopesText(provider, scopes) : app.scopes;
  const filled = Object.entries(config).filter(([, value]) => value !== '');
  return {
    provider: name,
    unique_key: key,
    ...(displayName === title ? {} : { display_name: displayName }),
    ...(fields === undefined ? {} : { integration_config: Object.fromEntries(filled) }),
    ...(hasApp(mode) && !(isAppOptional(mode) && Object.values(app).every((text) => text === ''))
      ? {
          credentials: {
            ...credentialsOf(mode, app),
            ...(scope === undefined ? {} : { scopes: scope }),
          },
        }
      : {}),
  };
}

/** The characters of a key (docs/reference/http.md#names-and-ids). */
const keyCharacters = /^[a-zA-Z0-9~:.@ _-]{1,255}$/;

/** What is wrong before the service is asked, by path. */
function checkBody(provider: Provider, draft: Draft, taken: ReadonlySet<string>): Problems {
  const { auth_mode: mode, integration_config: fields = {} } = provider;
  const missing = Object.entries(fields).filter(
    ([name, { optional }]) => optional !== true && (draft.config[name] ?? '') === '',
  );
  const scopes = mode === 'OAUTH2' ? scopesProblem(draft.scopes) : undefined;
  return new Map([
    ...missingIn(mode, draft.app),
    ...missing.map(
      ([name, { title }]) => [`integration_config.${name}`, `Enter: ${title}.`] as const,
    ),
    ...(scopes === undefined ? [] : [['credentials.scopes', scopes] as const]),
    ...(draft.displayName.trim() === ''
      ? [['display_name', 'Enter a name for the connect page.'] as const]
      : []),
    ...keyProblem(draft.key, taken),
  ]);
}

function keyProblem(key: string, taken: ReadonlySet<string>): Problems {
  if (key === '') return new Map();
  if (taken.has(key)) return new Map([['unique_key', 'Another integration has this key.']]);
  if (keyCharacters.test(key)) return new Map();
  const text = 'Use letters, digits, spaces and ~ : . @ _ - only, at most 255 characters.';
  return new Map([['unique_key', text]]);
}

function Introduction({ provider }: { readonly provider: Provider }): JSX.Element {
  const { name, display_name: title, logo_url: logo, auth_mode: mode, docs } = provider;
  const { setup_guide_url: setup } = provider;
  return (
    <div class="row nowrap">
      <img src={logoPath(logo)} alt="" width={40} height={40} />
      <div class="grow">
        <p class="muted">
          {isAppOptional(mode)
            ? `Your users sign in at ${title} (${modeLabels[mode]}). The service registers itself there, where ${title} allows it.`
            : hasApp(mode)
              ? `Your users sign in at ${title} (${modeLabels[mode]}), through an app that you register there once.`
              : `Nothing is registered at ${title}: each user enters their own credentials (${modeLabels[mode]}).`}
        </p>
        <p class="row">
          <a href={`/docs/providers${pathOf(name)}/`} target="_blank" rel="noopener">
            About this provider
          </a>
          {(setup !== undefined || !hasApp(mode)) && (
            <External href={docs}>Documentation of {title}</External>
          )}
        </p>
      </div>
    </div>
  );
}

interface ExternalProps {
  readonly href: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

const External = ({ href, children, class: look }: ExternalProps): JSX.Element => (
  <a href={href} class={look} target="_blank" rel="noopener noreferrer">
    {look !== undefined && <Icon name="external" />}
    {children}
  </a>
);

interface PartProps {
  readonly provider: Provider;
  readonly draft: Draft;
  readonly problems: Problems;
  readonly suggestedKey: string;
  readonly onChange: (changes: Partial<Draft>) => void;
}

type Step = readonly [title: string, content: ComponentChildren];

function stepsOf(parts: PartProps): readonly Step[] {
  const { provider } = parts;
  const { auth_mode: mode, display_name: title, integration_config: config } = provider;
  const steps: Step[] = [];
  if (isAppOptional(mode)) {
    const name = `Enter a client, if ${title} does not register one`;
    steps.push([name, <Credentials key="values" {...parts} />]);
  } else if (hasApp(mode)) {
    steps.push([`Register an app at ${title}`, <Registration key="app" provider={provider} />]);
    steps.push([`Enter what ${title} shows of the app`, <Credentials key="values" {...parts} />]);
  } else if (config !== undefined) {
    steps.push([`Enter what ${title} needs`, <Configuration key="values" {...parts} />]);
  }
  if (mode === 'OAUTH2')
    steps.push(['Choose what the app may do', <Scoping key="scopes" {...parts} />]);
  steps.push(['Name the integration', <Naming key="name" {...parts} />]);
  return steps;
}

/** What to enter at the provider, and where. */
function Registration({ provider }: { readonly provider: Provider }): JSX.Element {
  const { display_name: title, setup_guide_url: setup, docs } = provider;
  const addresses = [
    ['callback URL', 'Also called redirect URI. Enter it exactly so.', provider.callback_url],
    ['setup URL', 'To which people return after the installation.', provider.app_setup_url],
  ] as const;
  return (
    <>
      <p>Create an app (some providers say client or integration) at {title}, and enter there:</p>
      {addresses.map(
        ([name, hint, url]) =>
          url !== null && (
            <div key={name} class="field">
              <span class="label">{name.replace(/^./, (first) => first.toUpperCase())}</span>
              <div class="row nowrap">
                <code class="grow">{url}</code>
                <CopyButton text={url} label={`Copy the ${name}`} />
              </div>
              <span class="hint">{hint}</span>
            </div>
          ),
      )}
      <div>
        <External href={setup ?? docs} class="button">
          {setup === undefined ? `Documentation of ${title}` : `Open ${new URL(setup).hostname}`}
        </External>
      </div>
    </>
  );
}

function Credentials(parts: PartProps): JSX.Element {
  const { provider, draft, problems, onChange } = parts;
  return (
    <>
      <AppFields
        mode={provider.auth_mode}
        app={draft.app}
        problems={problems}
        without={withoutFields(provider)}
        onChange={(app) => onChange({ app })}
      />
      <Configuration {...parts} />
    </>
  );
}

/** Scopes are a step of their own, and only a provider that sends webhooks signs them. */
function withoutFields(provider: Provider): readonly AppField[] {
  const hasWebhooks = ['webhook_routing', 'webhook_routing_script'].some(
    (name) => name in provider,
  );
  return [
    ...(provider.auth_mode === 'OAUTH2' ? (['scopes'] as const) : []),
    ...(hasWebhooks ? [] : (['webhook_secret'] as const)),
  ];
}

/** Fields that the definition declares. */
function Configuration({ provider, draft, problems, onChange }: PartProps): JSX.Element {
  return (
    <>
      {Object.entries(provider.integration_config ?? {}).map(([name, field]) => {
        const shared = {
          label: field.optional === true ? `${field.title} (optional)` : field.title,
          hint: [field.description, ...(field.warnings ?? [])].join(' '),
          problem: problems.get(`integration_config.${name}`),
          value: draft.config[name] ?? '',
        };
        const change = (value: string) => onChange({ config: { ...draft.config, [name]: value } });
        return field.enum === undefined ? (
          <TextField
            key={name}
            {...shared}
            type={field.secret === true ? 'password' : 'text'}
            onInput={change}
          />
        ) : (
          <Select
            key={name}
            {...shared}
            choices={[
              { value: '', label: 'Choose' },
              ...field.enum.map((value) => ({
                value,
                label: field.enum_titles?.[value] ?? value,
              })),
            ]}
            onChange={change}
          />
        );
      })}
    </>
  );
}

const Scoping = ({ provider, draft, problems, onChange }: PartProps): JSX.Element => (
  <ScopeFields
    provider={provider}
    scopes={draft.scopes}
    problem={problems.get('credentials.scopes')}
    onChange={(scopes) => onChange({ scopes })}
  />
);

const Naming = ({ draft, problems, onChange, suggestedKey }: PartProps): JSX.Element => (
  <>
    <TextField
      label="Name"
      hint="Your users see it on the connect page."
      problem={problems.get('display_name')}
      value={draft.displayName}
      onInput={(displayName) => onChange({ displayName })}
    />
    <TextField
      label="Key"
      hint="The name that requests and functions use for the integration."
      problem={problems.get('unique_key')}
      placeholder={suggestedKey}
      value={draft.key}
      onInput={(key) => onChange({ key })}
    />
  </>
);
