import type { JSX } from 'preact';
import type { Input } from '#client/index.ts';
import { dayMs } from '../../data/local-time.ts';
import { useUrlState } from '../../data/url-state.ts';
import { FilterSelect, FilterText, IntegrationFilter } from '../../shell/filter.tsx';
import { Page } from '../../shell/page.tsx';
import { RunsTable } from './runs-table.tsx';

const kinds = ['sync', 'action', 'on-event', 'webhook', 'dryrun', 'revert'] as const;
const states = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'cancelled',
  'timed_out',
  'interrupted',
] as const;

type Query = NonNullable<Input<'GET /runs'>['query']>;

/** The value of the address as a value of the API; undefined unless it is one. */
const oneOf = <Value extends string>(
  values: readonly Value[],
  text: string,
): readonly Value[] | undefined => {
  const found = values.find((value) => value === text);
  return found === undefined ? undefined : [found];
};

const periods = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
] as const;

/** Start of the period, on a whole hour so that the list stays the same between two readings. */
function sinceOf(days: string): string | undefined {
  if (!periods.some(({ value }) => value === days)) return undefined;
  const at = new Date();
  at.setMinutes(0, 0, 0);
  return new Date(at.getTime() - Number(days) * dayMs).toISOString();
}

export function Runs(): JSX.Element {
  const filters = useUrlState();
  const query: Query = {
    kind: oneOf(kinds, filters.get('kind')),
    status: oneOf(states, filters.get('status')),
    function: filters.sent('function'),
    provider_config_key: filters.sent('integration'),
    connection_id: filters.sent('connection'),
    since: sinceOf(filters.get('days')),
  };
  return (
    <Page title="Runs" about="What functions did, newest first. The list is live.">
      <div class="filters" role="search">
        <FilterText filters={filters} name="function" label="Function" type="search" isWide />
        <FilterSelect filters={filters} name="status" label="State" values={states} />
        <FilterSelect filters={filters} name="kind" label="Kind" values={kinds} />
        <IntegrationFilter filters={filters} />
        <FilterText filters={filters} name="connection" label="Connection" type="search" />
        <FilterSelect
          filters={filters}
          name="days"
          label="Period"
          none="24 hours"
          values={periods}
        />
      </div>
      <RunsTable query={query} />
    </Page>
  );
}
