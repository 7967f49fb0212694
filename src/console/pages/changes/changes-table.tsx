import type { JSX } from 'preact';
import type { Change } from '#client/index.ts';
import { partsOf, pathOf } from '../../data/route.ts';
import type { UrlState } from '../../data/url-state.ts';
import { StateBadge } from '../../design/badge.tsx';
import { Clip } from '../../design/clip.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Time } from '../../design/time.tsx';
import { useAccess } from '../../session/context.tsx';
import { ConnectionLink } from '../../shell/connection-name.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { RecordDrawer } from '../connections/record-drawer.tsx';

interface ChangesTableProps {
  readonly label: string;
  readonly changes: readonly Change[];
  readonly filters: UrlState;
  /** A column at the end. */
  readonly action?: Column<Change>;
}

/** Changes, each of which opens the history of its record. */
export function ChangesTable({ label, changes, filters, action }: ChangesTableProps): JSX.Element {
  const { can } = useAccess();
  const columns = columnsOf(can('environment:records:read'));
  return (
    <>
      <Table
        label={label}
        columns={action === undefined ? columns : [...columns, action]}
        rows={changes}
        keyOf={({ place }) => place}
      />
      <OpenRecord filters={filters} />
    </>
  );
}

const columnsOf = (canOpen: boolean): readonly Column<Change>[] => [
  {
    title: 'Record',
    fit: 'short',
    cell: (change) => {
      const address = addressOf(change);
      if (!canOpen || address === null) return <Clip text={change.record_id} />;
      return <OpenLink id={address} text={change.record_id} />;
    },
  },
  {
    title: 'Change',
    fit: 'tight',
    narrow: 'top end',
    cell: ({ action }) => <StateBadge state={action} />,
  },
  {
    title: 'Model',
    fit: 'short',
    cell: ({ model, variant }) => (
      <Clip text={variant === 'base' ? model : `${model} · ${variant}`} />
    ),
  },
  {
    title: 'Connection',
    cell: ({ provider_config_key: integration, connection_id: id }) => (
      <ConnectionLink integration={integration} id={id} />
    ),
  },
  {
    title: 'Content',
    narrow: 'below',
    cell: (change) => <Clip text={contentOf(change)} isMono />,
  },
  {
    title: 'At',
    fit: 'tight',
    narrow: 'below end',
    cell: ({ at }) => <Time at={at} />,
  },
];

/** Enough for the widest table. */
const shownChars = 300;

function contentOf({ record }: Change): string {
  if (record === null) return '–';
  const { id: _id, ...content } = record;
  return JSON.stringify(content).slice(0, shownChars);
}

/** Names the record in an address; null once its connection is deleted. */
export function addressOf(change: Change): string | null {
  const { provider_config_key: integration, connection_id: connection } = change;
  if (integration === null || connection === null) return null;
  return pathOf(integration, connection, change.model, change.variant, change.record_id);
}

/** The history of the record that the address names. */
function OpenRecord({ filters }: Pick<ChangesTableProps, 'filters'>): JSX.Element | null {
  const [, integration, connection, model, variant, id] = partsOf(filters.get('id'));
  if (integration === undefined || connection === undefined) return null;
  if (model === undefined || variant === undefined || id === undefined) return null;
  return (
    <RecordDrawer
      name={{ integration, connection }}
      model={{ model, variant }}
      id={id}
      onClose={() => filters.set({ id: '' })}
    />
  );
}
