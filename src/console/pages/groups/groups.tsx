import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ConsumerGroup } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { useSort } from '../../data/sort.ts';
import { Button } from '../../design/button.tsx';
import { Clip } from '../../design/clip.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';

export function ConsumerGroups(): JSX.Element {
  const [open, setOpen] = useState<ConsumerGroup | null>(null);
  const sort = useSort();
  const query = useRead('GET /consumer-groups', {}, { everyMs: 5_000 });
  return (
    <Page title="Consumer groups" about="Consumer groups of the topics, with their lag.">
      <LoadedState query={query}>
        {({ data }) => (
          <Table
            label="Consumer groups"
            columns={columnsOf(setOpen)}
            rows={data}
            onOpen={setOpen}
            sort={sort}
            keyOf={({ name }) => name}
          />
        )}
      </LoadedState>
      {open !== null && (
        <Drawer title={open.name} onClose={() => setOpen(null)}>
          <GroupDetails group={open} />
        </Drawer>
      )}
    </Page>
  );
}

const columnsOf = (show: (group: ConsumerGroup) => void): readonly Column<ConsumerGroup>[] => [
  {
    title: 'Group',
    fit: 'short',
    sortBy: ({ name }) => name,
    cell: ({ name }) => <Clip text={name} isMono />,
  },
  {
    title: 'Purpose',
    narrow: 'below',
    cell: ({ why }) => <Clip text={why} />,
  },
  {
    title: 'Topic',
    fit: 'short',
    sortBy: ({ topic }) => topic,
    cell: ({ topic }) => <Clip text={topic} isMono />,
  },
  {
    title: 'Lag',
    fit: 'end',
    narrow: 'below end',
    sortBy: ({ lag }) => lag,
    cell: ({ lag }) => lag.toLocaleString('en'),
  },
  {
    title: '',
    fit: 'tight',
    cell: (group) => (
      <Button tone="quiet" isSmall onPress={() => show(group)}>
        Details
      </Button>
    ),
  },
];

const GroupDetails = ({ group }: { readonly group: ConsumerGroup }): JSX.Element => (
  <div class="stack">
    <KeyValues
      rows={[
        ['Topic', group.topic],
        ['Purpose', group.why],
        ['Replay', group.replay],
        ['Can be reset', group.resettable ? 'yes' : 'no'],
      ]}
    />
    <Table
      label="Partitions"
      rows={group.partitions}
      keyOf={({ partition }) => String(partition)}
      columns={[
        { title: 'Partition', cell: ({ partition }) => partition },
        { title: 'Start', fit: 'end', cell: ({ start }) => start.toLocaleString('en') },
        {
          title: 'Committed',
          fit: 'end',
          cell: ({ committed }) => committed?.toLocaleString('en') ?? '–',
        },
        { title: 'End', fit: 'end', cell: ({ end }) => end.toLocaleString('en') },
        { title: 'Lag', fit: 'end', cell: ({ lag }) => lag.toLocaleString('en') },
      ]}
    />
  </div>
);
