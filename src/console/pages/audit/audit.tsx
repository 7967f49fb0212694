import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEvent } from '#client/index.ts';
import { useList } from '../../data/read.ts';
import { useParts } from '../../data/route.ts';
import { useUrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Button } from '../../design/button.tsx';
import { Json } from '../../design/code.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { LinkTabs } from '../../design/tabs.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { FilterText } from '../../shell/filter.tsx';
import { ListState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { Chains } from './chains.tsx';

const tabs = [
  { id: 'events', label: 'Events' },
  { id: 'chains', label: 'Chains' },
] as const;

export function Audit(): JSX.Element {
  const { path } = useAccess();
  const [, part] = useParts();
  const current = tabs.find(({ id }) => id === part)?.id ?? 'events';
  return (
    <Page title="Audit" about="Changes and reads of credentials, in a chain that can be verified.">
      <LinkTabs
        label="Audit"
        current={current}
        tabs={tabs.map(({ id, label }) => ({ id, label, href: path(`/audit/${id}`) }))}
      />
      {current === 'events' ? <Events /> : <Chains />}
    </Page>
  );
}

function Events(): JSX.Element {
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
    <>
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
    </>
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
