import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { nameOfConnection } from '../data/connection-names.ts';
import { useRead } from '../data/read.ts';
import type { UrlState } from '../data/url-state.ts';
import { Button } from '../design/button.tsx';
import { Select, TextField, type Choice } from '../design/field.tsx';
import { useAccess } from '../session/context.tsx';

interface FilterBarProps {
  readonly filters: UrlState;
  readonly children: ComponentChildren;
}

/** The filters of a list, and how to be rid of them. */
export const FilterBar = ({ filters, children }: FilterBarProps): JSX.Element => (
  <div class="filters" role="search">
    {children}
    {!filters.isEmpty && (
      <Button tone="quiet" icon="close" onPress={filters.clear}>
        Clear filters
      </Button>
    )}
  </div>
);

interface FilterProps {
  readonly filters: UrlState;
  /** In the address. */
  readonly name: string;
  readonly label: string;
}

interface FilterTextProps extends FilterProps {
  readonly placeholder?: string;
  readonly isWide?: boolean;
  readonly type?: 'search' | 'text' | 'datetime-local';
}

export function FilterText({ filters, name, ...rest }: FilterTextProps): JSX.Element {
  return (
    <TextField
      {...rest}
      value={filters.get(name)}
      onInput={(value) => filters.set({ [name]: value })}
    />
  );
}

interface FilterSelectProps extends FilterProps {
  /** Values of the API, or each with its text. */
  readonly values: readonly (string | Choice)[];
  /** Text of the choice that filters nothing. */
  readonly none?: string;
}

export function FilterSelect(props: FilterSelectProps): JSX.Element {
  const { filters, name, label, values, none = 'All' } = props;
  const choices = values.map((one) =>
    typeof one === 'string' ? { value: one, label: one.replaceAll('_', ' ') } : one,
  );
  const current = filters.get(name);
  const isKnown = current === '' || choices.some(({ value }) => value === current);
  return (
    <Select
      label={label}
      value={current}
      choices={[
        { value: '', label: none },
        ...choices,
        ...(isKnown ? [] : [{ value: current, label: current }]),
      ]}
      onChange={(value) => filters.set({ [name]: value })}
    />
  );
}

const suggestedMax = 8;

interface ConnectionFieldProps {
  readonly label: string;
  readonly hint?: string;
  /** Id of the connection; empty: none is chosen. */
  readonly value: string;
  /** Only connections of this one are offered. */
  readonly integration?: string;
  /** @param integration of the connection that was chosen of the list */
  readonly onChange: (id: string, integration?: string) => void;
}

/** One connection, found by a part of its id or of the name or mail address of its end user. */
export function ConnectionField(props: ConnectionFieldProps): JSX.Element {
  const { label, hint, value: id, integration = '', onChange } = props;
  const { can } = useAccess();
  const canList = can('environment:connections:list');
  /** What is typed and names no connection yet. */
  const [text, setText] = useState<string | null>(null);
  const search = text?.trim() ?? '';
  const query = {
    search,
    credentials: 'none',
    limit: suggestedMax,
    ...(integration === '' ? {} : { integrationId: [integration] }),
  } as const;
  const { data: found } = useRead(
    'GET /connections',
    { query },
    { isEnabled: canList && search !== '' },
  );
  const isUnknown = search !== '' && found?.connections.length === 0;
  const { data: chosen } = useRead(
    'GET /connections',
    { query: { connectionIds: [id], credentials: 'none' } },
    { isEnabled: canList && id !== '' },
  );
  const [user] = chosen?.connections ?? [];
  const offered = search === '' ? [] : (found?.connections ?? []);
  const suggestions = offered.map((one) => ({
    value: one.connection_id,
    label: `${nameOfConnection(one.connection_id, one.end_user)} · ${one.provider_config_key}`,
  }));
  const choose = (value: string): void => {
    const known = offered.find((one) => one.connection_id === value);
    const isTaken = known !== undefined || !canList;
    setText(isTaken || value === '' ? null : value);
    onChange(isTaken ? value : '', known?.provider_config_key);
  };
  return (
    <TextField
      label={label}
      hint={hint}
      problem={isUnknown ? 'No connection has this name or id.' : undefined}
      refusal={text === null ? undefined : 'Choose a connection of the list, or leave it empty.'}
      type="search"
      placeholder="Name or id"
      value={text ?? (id === '' ? '' : nameOfConnection(id, user?.end_user))}
      suggestions={suggestions}
      onInput={choose}
      onCommit={() => {
        if (text === null) return;
        const [first] = suggestions;
        if (first !== undefined) choose(first.value);
      }}
    />
  );
}

export const ConnectionFilter = ({ filters }: { readonly filters: UrlState }): JSX.Element => (
  <ConnectionField
    label="Connection"
    value={filters.get('connection')}
    onChange={(connection) => filters.set({ connection })}
  />
);

/** The integrations of the environment; none when the key may not list them. */
export function useIntegrationChoices(): readonly Choice[] {
  const { can } = useAccess();
  const isEnabled = can('environment:integrations:list');
  const { data } = useRead('GET /integrations', { query: { credentials: 'none' } }, { isEnabled });
  return (data?.data ?? []).map(({ unique_key: value, display_name: name }) => ({
    value,
    label: name === value ? name : `${name} (${value})`,
  }));
}

export function IntegrationFilter({ filters }: { readonly filters: UrlState }): JSX.Element {
  const values = useIntegrationChoices();
  return <FilterSelect filters={filters} name="integration" label="Integration" values={values} />;
}

interface OnlyOfProps {
  readonly integration: string;
  readonly connection: string;
  readonly onChange: (changed: { integration?: string; connection?: string }) => void;
}

/** Of which integration or connection a thing is alone; empty: of all. */
export function OnlyOfFields({ integration, connection, onChange }: OnlyOfProps): JSX.Element {
  const integrations = useIntegrationChoices();
  return (
    <>
      <Select
        label="Only of the integration"
        value={integration}
        choices={[{ value: '', label: 'All' }, ...integrations]}
        onChange={(chosen) => onChange({ integration: chosen })}
      />
      <ConnectionField
        label="Only of the connection"
        hint="Leave empty for all connections"
        value={connection}
        integration={integration}
        onChange={(chosen, of = integration) => onChange({ connection: chosen, integration: of })}
      />
    </>
  );
}
