import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer, Function } from '#client/index.ts';
import { nameOfConnection } from '../../data/connection-names.ts';
import { failedRunOf, failureOf, fieldProblemsOf } from '../../data/failure.ts';
import { useChange, useRead } from '../../data/read.ts';
import { pathOf } from '../../data/route.ts';
import { useUrlState, type UrlState } from '../../data/url-state.ts';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { Select, Check, TextArea, TextField } from '../../design/field.tsx';
import { Empty, FailureNotice, Notice } from '../../design/states.tsx';
import { useAccess } from '../../session/context.tsx';
import { useIntegrationChoices } from '../../shell/filter.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

/** Runs an action of a connection with input of a form. */
export function Playground(): JSX.Element {
  const filters = useUrlState();
  const integrations = useIntegrationChoices();
  // The only integration needs no choice.
  const only = integrations.length === 1 ? (integrations[0]?.value ?? '') : '';
  const integration = filters.sent('integration') ?? only;
  return (
    <Page title="Playground" about="Run an action on a connection, with a form for its input.">
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
  const names = new Map(
    data?.connections.map(({ connection_id: id, end_user: user }) => [
      id,
      nameOfConnection(id, user),
    ]),
  );
  const [first = ''] = names.keys();
  return { names, current: filters.sent('connection') ?? first };
}

function Choices({ filters, integration }: PartProps): JSX.Element {
  const connections = useConnectionChoice({ filters, integration });
  const actions = useActions(integration);
  const actionNames = actions.data?.data.map(({ name }) => name) ?? [];
  const choicesOf = (
    values: Iterable<string>,
    current: string,
    names = new Map<string, string>(),
  ) =>
    ['', ...new Set([...values, ...(current === '' ? [] : [current])])].map((value) => ({
      value,
      label: value === '' ? 'Choose' : (names.get(value) ?? value),
    }));
  return (
    <>
      <Select
        label="Connection"
        value={connections.current}
        choices={choicesOf(connections.names.keys(), connections.current, connections.names)}
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
  const { path, can } = useAccess();
  const schema = schemaOf(action);
  const [input, setInput] = useState<unknown>(() =>
    former?.stored === true ? former.input : emptyOf(schema),
  );
  const run = useChange(
    async (client) => {
      if (can('environment:logs:keep')) {
        // The run decides at its start which lines it keeps.
        const functions = [
          { integration_id: integration, type: 'action', name: action.name },
        ] as const;
        await client.request('POST /logs/keep', { body: { minutes: 5, functions } });
      }
      return client.request('POST /action/trigger', {
        headers: { 'provider-config-key': integration, 'connection-id': connection },
        body: { action_name: action.name, input },
      });
    },
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
        <SchemaForm
          schema={schema}
          value={input}
          onChange={setInput}
          problems={fieldProblemsOf(run.error)}
        />
        <div class="row">
          <Button type="submit" tone="primary" icon="play" isBusy={run.isPending}>
            Run the action
          </Button>
          <Link href={path(`/runs?${runs.toString()}`)}>Its runs and logs</Link>
        </div>
      </form>
      <div class="card padded stack" aria-live="polite">
        <h2>Result</h2>
        {run.error !== null && <FailedAction error={run.error} />}
        {run.isSuccess && <Json label="Result" value={run.data} />}
        {run.isIdle && <p class="muted">Run the action to see its result.</p>}
      </div>
    </div>
  );
}

/** Why the action failed, and the way to its run. */
function FailedAction({ error }: { readonly error: unknown }): JSX.Element {
  const { path } = useAccess();
  const failed = failedRunOf(error);
  return (
    <>
      <FailureNotice failure={failureOf(error)} />
      {failed !== null && (
        <p>
          {failed.location !== null && <span class="mono">at {failed.location} </span>}
          <Link href={path(pathOf('runs', failed.id))}>The run that failed</Link>
        </p>
      )}
    </>
  );
}

type Fields = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of an action's input; null when it takes none. */
function schemaOf({ input, json_schema: schema }: Function): Fields | null {
  const definitions = schema?.['definitions'];
  if (input === undefined || !isObject(definitions)) return null;
  const found = definitions[input];
  return isObject(found) ? found : null;
}

/** The value with which a form starts: the default, or nothing. */
function emptyOf(schema: Fields | null): unknown {
  if (schema === null) return undefined;
  return schema['default'] ?? (schema['type'] === 'object' ? {} : undefined);
}

interface SchemaFormProps {
  readonly schema: Fields | null;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  /** What was refused, by the name of the property. */
  readonly problems: ReadonlyMap<string, string>;
}

/** A field for each property of an object; anything else is written as JSON. */
function SchemaForm({ schema, value, onChange, problems }: SchemaFormProps): JSX.Element {
  if (schema === null) return <p class="muted">This action takes no input.</p>;
  const properties = schema['properties'];
  if (schema['type'] !== 'object' || !isObject(properties))
    return <JsonField label="Input" schema={schema} value={value} onChange={onChange} />;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const fields = isObject(value) ? value : {};
  return (
    <>
      {Object.entries(properties).map(([name, property]) => (
        <PropertyField
          key={name}
          label={required.includes(name) ? name : `${name} (optional)`}
          schema={isObject(property) ? property : {}}
          isRequired={required.includes(name)}
          value={fields[name]}
          problem={problems.get(name)}
          onChange={(next) => {
            const { [name]: _former, ...rest } = fields;
            onChange(next === undefined ? rest : { ...rest, [name]: next });
          }}
        />
      ))}
    </>
  );
}

interface FieldProps {
  readonly label: string;
  readonly schema: Fields;
  readonly isRequired?: boolean;
  readonly problem?: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function PropertyField(props: FieldProps): JSX.Element {
  const { label, schema, isRequired = false, problem, value, onChange } = props;
  const { type, enum: values, description } = schema;
  const hint = typeof description === 'string' ? description : undefined;
  if (Array.isArray(values))
    return (
      <Select
        label={label}
        hint={hint}
        value={value === undefined ? '' : JSON.stringify(value)}
        choices={[
          { value: '', label: 'Choose' },
          ...values.map((one) => ({ value: JSON.stringify(one), label: String(one) })),
        ]}
        onChange={(text) => onChange(text === '' ? undefined : JSON.parse(text))}
      />
    );
  if (type === 'boolean')
    return <Check label={label} isChecked={value === true} onChange={onChange} />;
  if (type === 'number' || type === 'integer')
    return (
      <TextField
        label={label}
        hint={hint}
        type="number"
        isRequired={isRequired}
        problem={problem}
        value={typeof value === 'number' ? String(value) : ''}
        onInput={(text) => onChange(text === '' ? undefined : Number(text))}
      />
    );
  if (type === 'string')
    return (
      <TextField
        label={label}
        hint={hint}
        isRequired={isRequired}
        problem={problem}
        value={typeof value === 'string' ? value : ''}
        onInput={(text) => onChange(text === '' && !isRequired ? undefined : text)}
      />
    );
  return <JsonField {...props} />;
}

function JsonField({ label, value, problem, onChange }: FieldProps): JSX.Element {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value, null, 2));
  const [isValid, setValid] = useState(true);
  const read = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setValid(true);
    } catch {
      setValid(false);
    }
  };
  return (
    <TextArea
      label={label}
      hint="JSON"
      rows={5}
      value={text}
      problem={isValid ? problem : 'This is not JSON.'}
      onInput={read}
    />
  );
}
