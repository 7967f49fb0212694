import type { ComponentChildren, JSX } from 'preact';
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
