import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEvent } from '../../../client/index.ts';
import { useList, useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Code, Json } from '../../design/code.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { FilterText } from '../../shell/filter.tsx';
import { ListState, LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function Audit(): JSX.Element {
  const filters = useUrlState();
  const [open, setOpen] = useState<AuditEvent | null>(null);
  const list = useList(
    'GET /audit',
    {
      query: {
        actor: filters.sent('actor'),
        action: filters.sent('action'),
        target: filters.sent('target'),
        outcome: filters.sent('outcome'),
        environment: filters.sent('environment'),
        limit: 100,
      },
    },
    ({ data }) => data,
  );
  return (
    <Page title="Audit" about="Changes and reads of credentials, in a chain that can be verified.">
      <Chains />
      <div class="filters" role="search">
        <FilterText filters={filters} name="action" label="Action" type="search" />
        <FilterText filters={filters} name="actor" label="Actor" type="search" />
        <FilterText filters={filters} name="target" label="Target" type="search" isWide />
        <FilterText filters={filters} name="outcome" label="Outcome" type="search" />
        <FilterText filters={filters} name="environment" label="Environment" type="search" />
      </div>
      <ListState list={list} empty={<Empty title="No event matches">Change a filter.</Empty>}>
        <Table
          label="Audit events"
          columns={columnsOf(setOpen)}
          rows={list.items}
          keyOf={({ environment, seq }) => `${environment} ${seq}`}
        />
      </ListState>
      {open !== null && (
        <Drawer title={open.action} onClose={() => setOpen(null)}>
          <Json label="Event" value={open} />
        </Drawer>
      )}
    </Page>
  );
}

/** Length of `key:` and the first part of an id; the rest is shown on hover. */
const shownActor = 12;

const columnsOf = (show: (event: AuditEvent) => void): readonly Column<AuditEvent>[] => [
  { title: 'Action', cell: ({ action }) => <span class="clip">{action}</span> },
  { title: 'Outcome', fit: 'tight', cell: ({ outcome }) => <StateBadge state={outcome} /> },
  {
    title: 'Target',
    cell: ({ target }) => (
      <span class="clip" title={target}>
        {target}
      </span>
    ),
  },
  {
    title: 'Actor',
    cell: ({ actor }) => (
      <span class="clip mono" title={actor}>
        {actor.slice(0, shownActor)}
      </span>
    ),
  },
  { title: 'From', fit: 'tight', cell: ({ ip_prefix: prefix }) => prefix ?? '–' },
  { title: 'At', fit: 'tight', cell: ({ at }) => <Time at={at} /> },
  {
    title: '',
    fit: 'tight',
    cell: (event) => (
      <Button tone="quiet" isSmall onPress={() => show(event)}>
        Details
      </Button>
    ),
  },
];

/** How long each chain is, and how to verify it. */
function Chains(): JSX.Element {
  const query = useRead('GET /audit/chains', {});
  return (
    <details class="card padded">
      <summary>Chains, and how to verify them</summary>
      <div class="stack">
        <p class="muted">
          Each event contains the hash of the one before it. Export a chain and compare its last
          hash with this one:
        </p>
        <Code label="Command" text="npx svc audit verify" />
        <LoadedState query={query}>
          {({ data }) => (
            <Table
              label="Chains"
              rows={data}
              keyOf={({ environment }) => environment}
              columns={[
                { title: 'Environment', cell: ({ environment, name }) => name ?? environment },
                { title: 'Events', fit: 'end', cell: ({ length }) => length.toLocaleString('en') },
                {
                  title: 'Last hash',
                  cell: ({ hash }) => (
                    <span class="clip mono" title={hash}>
                      {hash}
                    </span>
                  ),
                },
              ]}
            />
          )}
        </LoadedState>
      </div>
    </details>
  );
}
