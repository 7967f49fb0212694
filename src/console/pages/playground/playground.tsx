import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Function } from '#client/index.ts';
import { failureOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { Select } from '../../design/field.tsx';
import { Empty, FailureNotice, Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { useIntegrationChoices } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { emptyOf, SchemaForm, schemaOf } from './schema-form.tsx';

/** Runs an action of a connection with input of a form. */
export function Playground(): JSX.Element {
  const filters = useUrlState();
  const integrations = useIntegrationChoices();
  // The only integration needs no choice.
  const only = integrations.length === 1 ? (integrations[0]?.value ?? '') : '';
  const integration = filters.sent('integration') ?? only;
  return (
    <Page title="Playground" about="Runs an action on a connection, with input of a form.">
      <div class="filters">
        <Select
          label="Integration"
          value={integration}
          choices={[{ value: '', label: 'Choose' }, ...integrations]}
          onChange={(value) =>
            filters.set({ integration: value, connection: '', action: '', run: '' })
          }
        />
        {integration !== '' && <Choices filters={filters} integration={integration} />}
      </div>
      {integration === '' ? (
        <Empty title="Choose an integration">Then a connection of it, and an action.</Empty>
      ) : (
        <Chosen filters={filters} integration={integration} />
      )}
    </Page>
  );
}

interface PartProps {
  readonly filters: UrlState;
  readonly integration: string;
}

const useActions = (integration: string) =>
  useRead('GET /integrations/{uniqueKey}/functions', {
    params: { uniqueKey: integration },
    query: { type: 'action', limit: 100 },
  });

/** The connections of the integration, newest first; the first is chosen until another is. */
function useConnectionChoice({ filters, integration }: PartProps) {
  const { data } = useRead('GET /connections', {
    query: { integrationId: [integration], credentials: 'none', limit: 100 },
  });
  const names = data?.connections.map(({ connection_id: id }) => id) ?? [];
  return { names, current: filters.sent('connection') ?? names[0] ?? '' };
}

function Choices({ filters, integration }: PartProps): JSX.Element {
  const connections = useConnectionChoice({ filters, integration });
  const actions = useActions(integration);
  const actionNames = actions.data?.data.map(({ name }) => name) ?? [];
  const choicesOf = (names: readonly string[], current: string) =>
    ['', ...new Set([...names, ...(current === '' ? [] : [current])])].map((value) => ({
      value,
      label: value === '' ? 'Choose' : value,
    }));
  return (
    <>
      <Select
        label="Connection"
        value={connections.current}
        choices={choicesOf(connections.names, connections.current)}
        onChange={(connection) => filters.set({ integration, connection })}
      />
      <Select
        label="Action"
        value={filters.get('action')}
        choices={choicesOf(actionNames, filters.get('action'))}
        onChange={(action) => filters.set({ integration, action, run: '' })}
      />
    </>
  );
}

function Chosen({ filters, integration }: PartProps): JSX.Element {
  const query = useActions(integration);
  const { current: connection } = useConnectionChoice({ filters, integration });
  return (
    <LoadedState query={query}>
      {({ data }) => {
        const action = data.find(({ name }) => name === filters.get('action'));
        if (data.length === 0)
          return (
            <Empty title="No actions" command="npx svc deploy <environment>">
              Deploy an action of this integration:
            </Empty>
          );
        if (action === undefined || connection === '')
          return <Empty title="Choose a connection and an action" />;
        const form = { integration, connection, action };
        const runId = filters.get('run');
        const key = `${connection} ${action.name} ${runId}`;
        if (runId === '') return <ActionForm key={key} {...form} />;
        return <FormOfRun key={key} {...form} runId={runId} />;
      }}
    </LoadedState>
  );
}

interface ActionFormProps {
  readonly integration: string;
  readonly connection: string;
  readonly action: Function;
  /** The input of a former run; `stored` is false when it is gone. */
  readonly former?: Answer<'GET /runs/{id}/input'>['data'];
}

/** The form with the input of a former run, to be changed. */
function FormOfRun({ runId, ...form }: ActionFormProps & { readonly runId: string }): JSX.Element {
  const query = useRead('GET /runs/{id}/input', { params: { id: runId } });
  return (
    <LoadedState query={query}>
      {({ data: former }) => <ActionForm {...form} former={former} />}
    </LoadedState>
  );
}

function ActionForm({ integration, connection, action, former }: ActionFormProps): JSX.Element {
  const { path } = useAccess();
  const schema = schemaOf(action);
  const [input, setInput] = useState<unknown>(() =>
    former?.stored === true ? former.input : emptyOf(schema),
  );
  const run = useChange(
    (client) =>
      client.request('POST /action/trigger', {
        headers: { 'provider-config-key': integration, 'connection-id': connection },
        body: { action_name: action.name, input },
      }),
    { showsFailure: true },
  );
  const runs = new URLSearchParams({ integration, connection, function: action.name });
  return (
    <div class="columns">
      <form
        class="card padded stack"
        onSubmit={(event) => {
          event.preventDefault();
          run.mutate();
        }}
      >
        <h2>Input</h2>
        {former?.stored === false && (
          <Notice tone="info">The run had no input, or it is no longer stored.</Notice>
        )}
        {action.description !== undefined && <p class="muted">{action.description}</p>}
        <SchemaForm schema={schema} value={input} onChange={setInput} />
        <div class="row">
          <Button type="submit" tone="primary" icon="play" isBusy={run.isPending}>
            Run the action
          </Button>
          <Link href={path(`/runs?${runs.toString()}`)}>Its runs and logs</Link>
        </div>
      </form>
      <div class="card padded stack" aria-live="polite">
        <h2>Result</h2>
        {run.error !== null && <FailureNotice failure={failureOf(run.error)} />}
        {run.isSuccess && <Json label="Result" value={run.data} />}
        {run.isIdle && <p class="muted">Run the action to see its result.</p>}
      </div>
    </div>
  );
}
