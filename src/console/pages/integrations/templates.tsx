import type { ComponentChildren, JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Answer, Template } from '#client/index.ts';
import { nameOfConnection } from '../../data/connection-names.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Badge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { Code } from '../../design/code.tsx';
import type { Column } from '../../design/column.ts';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { ShortTable } from '../../design/short-table.tsx';
import { Empty, FailureNotice, Notice } from '../../design/states.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';

type Integration = Answer<'GET /integrations/{uniqueKey}'>['data'];
type Function_ = Answer<'GET /integrations/{uniqueKey}/functions'>['data'][number];

/** The functions of the box for the provider of an integration, which are deployed from here. */
export function Templates({ integration }: { readonly integration: string }): JSX.Element {
  const query = useRead('GET /integrations/{uniqueKey}', {
    params: { uniqueKey: integration },
    query: { include: ['scopes'] },
  });
  return (
    <LoadedState query={query}>{({ data }) => <TemplateList integration={data} />}</LoadedState>
  );
}

function TemplateList({ integration }: { readonly integration: Integration }): JSX.Element {
  const filters = useUrlState();
  const { provider, unique_key: uniqueKey } = integration;
  const query = useRead('GET /providers/{provider}/templates', { params: { provider } });
  const functions = useRead('GET /integrations/{uniqueKey}/functions', {
    params: { uniqueKey },
    query: { limit: 100 },
  });
  const deployedOf = ({ name, type }: Template): Function_ | undefined =>
    functions.data?.data.find((one) => one.name === name && one.type === type);
  return (
    <LoadedState query={query}>
      {({ data }) => {
        if (data.length === 0)
          return (
            <Empty title="No templates" command="npx svc deploy <environment>">
              svc has none for {provider} yet. Deploy functions of your project:
            </Empty>
          );
        const open = data.find(({ name }) => name === filters.get('template'));
        return (
          <>
            <ShortTable
              label="Templates"
              columns={columnsOf((one) => deployedOf(one) !== undefined)}
              rows={data}
              keyOf={({ name }) => name}
            />
            {open !== undefined && (
              <TemplateDrawer
                key={open.name}
                integration={integration}
                template={open}
                deployed={deployedOf(open)}
                onClose={() => filters.set({ template: '' })}
              />
            )}
          </>
        );
      }}
    </LoadedState>
  );
}

const columnsOf = (isDeployed: (template: Template) => boolean): readonly Column<Template>[] => [
  {
    title: 'Template',
    cell: ({ name }) => <OpenLink name="template" id={name} text={name} />,
  },
  { title: 'Type', fit: 'tight', cell: ({ type }) => type },
  {
    title: 'What it does',
    narrow: 'below',
    cell: ({ description }) => <Clip text={description} />,
  },
  {
    title: 'State',
    fit: 'tight',
    narrow: 'top end',
    cell: (one) => (isDeployed(one) ? <Badge tone="good">deployed</Badge> : ''),
  },
];

interface TemplateProps {
  readonly integration: Integration;
  readonly template: Template;
  /** The function of its name. */
  readonly deployed: Function_ | undefined;
}

function TemplateDrawer(props: TemplateProps & { readonly onClose: () => void }): JSX.Element {
  const { template, onClose } = props;
  const { provider, name, description } = template;
  const query = useRead('GET /providers/{provider}/templates/{name}', {
    params: { provider, name },
  });
  return (
    <Drawer title={name} onClose={onClose}>
      <p class="muted">{description}</p>
      <Deploy {...props} />
      <LoadedState query={query}>
        {({ data: { files } }) => (
          <Tabs
            label="Template"
            tabs={[
              { id: 'about', label: 'About', content: <About {...props} /> },
              ...files
                .filter(({ path }) => !/\/(fixtures|tests)\//.test(path))
                .map(({ path, content }) => ({
                  id: path,
                  label: path.slice(path.lastIndexOf('/') + 1),
                  content: <Code label={path} text={content} />,
                })),
            ]}
          />
        )}
      </LoadedState>
    </Drawer>
  );
}

const deletions = {
  every_run: 'Found in each run',
  runs_from_start: 'Found in runs from the start',
  none: 'None are found: the API deletes nothing, or does not report it',
} as const;

const asksFor = (isIncremental: boolean): string =>
  isIncremental ? 'Changes since the last run' : 'Everything, in each run';

function About({ integration, template }: TemplateProps): JSX.Element {
  const { type, version, scopes, runs, incremental, documentation } = template;
  return (
    <div class="stack">
      <KeyValues
        rows={[
          ['Type', type],
          ['Version', version],
          ...(type === 'sync' ? fieldsOfModels(template) : []),
          ['Schedule', runs],
          ['Asks for', incremental === undefined ? '' : asksFor(incremental)],
          ['Deletions', template.deletions && deletions[template.deletions]],
          ['Event', template.event],
          [
            'Scopes at the provider',
            scopes.length === 0 ? '' : <ScopeList key="scopes" {...{ integration, scopes }} />,
          ],
          ['Metadata of a connection', fieldsOf(template.metadata)],
          [
            'Documentation',
            <div key="pages" class="stack tight">
              {documentation.map((href) => (
                <a
                  key={href}
                  class="clip"
                  href={href}
                  title={href}
                  target="_blank"
                  rel="noreferrer"
                >
                  {href.replace('https://', '')}
                </a>
              ))}
            </div>,
          ],
        ]}
      />
      <p class="muted">To change it, copy it into your project:</p>
      <Code label="Command" text={`npx svc add ${template.provider}/${template.name}`} />
    </div>
  );
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

/** The fields of an object; those that may be left out have a mark. */
function fieldsOf(schema: JsonSchema | null | undefined): string {
  const { properties = {}, required = [] } = schema ?? {};
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? name : `${name} (optional)`))
    .join(', ');
}

function fieldsOfModels({ returns = [], json_schema: schema }: Template) {
  const definitions = (schema?.['definitions'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  return returns.map((model) => [`Saves ${model}`, fieldsOf(definitions[model])] as const);
}

/** Without those of the app, whose scopes are known. */
const missingScopes = (integration: Integration, scopes: readonly string[]): readonly string[] =>
  integration.scopes === null || integration.scopes === undefined
    ? []
    : scopes.filter((scope) => integration.scopes?.includes(scope) !== true);

function ScopeList(props: {
  readonly integration: Integration;
  readonly scopes: readonly string[];
}) {
  const missing = missingScopes(props.integration, props.scopes);
  return (
    <>
      {props.scopes.map((scope) => (
        <div key={scope}>
          <code>{scope}</code> {missing.includes(scope) && <Badge tone="warn">missing</Badge>}
        </div>
      ))}
    </>
  );
}

/** Between two looks at a deployment. */
const lookAgainMs = 500;

/** Deploys the template, and shows how that ended and what is next. */
function Deploy({ integration, template, deployed }: TemplateProps): JSX.Element {
  const { can, path } = useAccess();
  const key = integration.unique_key;
  const deploy = useChange(
    async (client) => {
      const body = { type: 'template', integration_id: key, template: template.name } as const;
      const { id: started } = await client.request('POST /functions/deployments', { body });
      for (;;) {
        const params = { id: started };
        const shown = await client.request('GET /functions/deployments/{id}', { params });
        if (shown.completed_at !== undefined) return shown;
        await new Promise((resume) => setTimeout(resume, lookAgainMs));
      }
    },
    { showsFailure: true },
  );
  const failure = deploy.data?.error;
  const missing = missingScopes(integration, template.scopes);
  return (
    <div class="stack">
      {missing.length > 0 && (
        <Notice tone="warn">
          The integration does not ask for {missing.join(', ')}. Enter the app credentials with
          these scopes in its{' '}
          <Link href={path(`${pathOf('integrations', key)}/settings`)}>settings</Link>, then
          reconnect the connections.
        </Notice>
      )}
      {deployed?.source === 'repo' ? (
        <Notice>Your project has a function of this name: change it there.</Notice>
      ) : (
        can('environment:deploy') && (
          <div>
            <Button
              tone={deployed === undefined ? 'primary' : 'plain'}
              isBusy={deploy.isPending}
              onPress={() => deploy.mutate()}
            >
              {deployed === undefined ? 'Deploy' : 'Deploy this version'}
            </Button>
          </div>
        )
      )}
      {deploy.error !== null && <FailureNotice failure={failureOf(deploy.error)} />}
      {failure !== undefined && <FailureNotice failure={{ ...failure, requestId: null }} />}
      {deployed !== undefined && failure === undefined && (
        <Next integration={key} template={template} />
      )}
    </div>
  );
}

interface NextProps {
  readonly integration: string;
  readonly template: Template;
}

/** Where the deployed function is used. */
function Next({ integration, template }: NextProps): JSX.Element {
  const { path } = useAccess();
  const { type, name } = template;
  const functions = path(`${pathOf('integrations', integration)}/functions?function=${name}`);
  const ofFunction = <Link href={functions}>Open the function</Link>;
  if (type === 'sync') return <NextOfSync {...{ integration, template, ofFunction }} />;
  const search = new URLSearchParams({ integration, action: name });
  return (
    <Notice tone="good">
      <p role="status">The function is deployed.</p>
      <div class="row">
        {type === 'action' && (
          <Link href={path(`/playground?${search.toString()}`)}>Run it in the playground</Link>
        )}
        {ofFunction}
      </div>
    </Notice>
  );
}

/** Connections to which the page leads; the rest are in their list. */
const connectionsMax = 5;

function NextOfSync(props: NextProps & { readonly ofFunction: ComponentChildren }): JSX.Element {
  const { integration, template, ofFunction } = props;
  const { path } = useAccess();
  const query = useRead('GET /connections', {
    query: { integrationId: [integration], credentials: 'none', limit: connectionsMax },
  });
  const tab = template.metadata === null ? 'syncs' : 'settings';
  return (
    <Notice tone="good">
      <p role="status">
        The sync is deployed.{' '}
        {template.metadata === null ? 'It runs' : 'It runs where the metadata is set,'} for each
        connection{template.runs === undefined ? '' : `, ${template.runs}`}.
      </p>
      <LoadedState query={query}>
        {({ connections }) => (
          <div class="row">
            {connections.map(({ connection_id: id, end_user: user }) => (
              <Link key={id} href={path(`${pathOf('connections', integration, id)}/${tab}`)}>
                {tab === 'syncs' ? 'Run it for' : 'Set the metadata of'}{' '}
                {nameOfConnection(id, user)}
              </Link>
            ))}
            {connections.length === 0 && (
              <Link href={path(`${pathOf('integrations', integration)}/test`)}>
                Connect a test account
              </Link>
            )}
            {ofFunction}
          </div>
        )}
      </LoadedState>
    </Notice>
  );
}
