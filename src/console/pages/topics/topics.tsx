import type { JSX } from 'preact';
import type { ConsumerGroup } from '../../../client/index.ts';
import { useRead } from '../../data/read.ts';
import { useUrlState } from '../../data/url-state.ts';
import { Code, Json } from '../../design/code.tsx';
import { KeyValues } from '../../design/key-values.tsx';
import { Drawer } from '../../design/overlay.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { Tabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { OpenLink } from '../../shell/open-link.tsx';
import { Page } from '../../shell/page.tsx';
import { topicsOf, type Topic } from './catalog.ts';
import { snippetsOf } from './snippets.ts';

/** The public topics: what they carry, who reads them, and how to consume them. */
export function Topics(): JSX.Element {
  const { can } = useAccess();
  const filters = useUrlState();
  const query = useRead('GET /asyncapi.json', {});
  const isEnabled = can('account:consumer-groups:read');
  const groups = useRead('GET /consumer-groups', {}, { isEnabled, everyMs: 10_000 });
  return (
    <Page
      title="Topics"
      about="The public topics of the service, for data teams: schemas, keys and consumers."
    >
      <LoadedState query={query}>
        {(document) => {
          const topics = topicsOf(document);
          const open = topics.find(({ name }) => name === filters.get('topic'));
          const readers = groups.data?.data ?? [];
          return (
            <>
              <Table
                label="Topics"
                columns={columnsOf(readers)}
                rows={topics}
                keyOf={({ name }) => name}
              />
              {open !== undefined && (
                <Drawer title={open.name} onClose={() => filters.set({ topic: '' })}>
                  <TopicDetails topic={open} groups={readers} />
                </Drawer>
              )}
            </>
          );
        }}
      </LoadedState>
    </Page>
  );
}

const readersOf = (groups: readonly ConsumerGroup[], name: string): readonly ConsumerGroup[] =>
  groups.filter(({ topic }) => topic === name);

const columnsOf = (groups: readonly ConsumerGroup[]): readonly Column<Topic>[] => [
  { title: 'Topic', cell: ({ name }) => <OpenLink name="topic" id={name} text={name} /> },
  {
    title: 'Purpose',
    cell: ({ purpose }) => (
      <span class="clip" title={purpose}>
        {purpose}
      </span>
    ),
  },
  { title: 'Partitions', fit: 'end', cell: ({ partitions }) => partitions ?? '–' },
  { title: 'Groups', fit: 'end', cell: ({ name }) => readersOf(groups, name).length },
  {
    title: 'Lag',
    fit: 'end',
    cell: ({ name }) =>
      readersOf(groups, name)
        .reduce((most, { lag }) => Math.max(most, lag), 0)
        .toLocaleString('en'),
  },
];

interface TopicDetailsProps {
  readonly topic: Topic;
  readonly groups: readonly ConsumerGroup[];
}

const TopicDetails = ({ topic, groups }: TopicDetailsProps): JSX.Element => (
  <div class="stack">
    <p class="muted">{topic.purpose}</p>
    <Tabs
      label="Topic"
      tabs={[
        { id: 'schema', label: 'Schema', content: <Schema topic={topic} /> },
        { id: 'consume', label: 'Consume', content: <Snippets topic={topic} /> },
        { id: 'groups', label: 'Groups', content: <Groups topic={topic} groups={groups} /> },
        {
          id: 'settings',
          label: 'Settings',
          content: (
            <Json label="Settings" value={{ partitions: topic.partitions, ...topic.settings }} />
          ),
        },
      ]}
    />
  </div>
);

const Schema = ({ topic }: { readonly topic: Topic }): JSX.Element => (
  <div class="stack">
    {topic.messages.map((message) => (
      <div key={message.name} class="stack">
        <h3>{message.name}</h3>
        <KeyValues
          rows={[
            ['Summary', message.summary],
            ['Key', message.key],
          ]}
        />
        {message.payload !== undefined && (
          <Json label={`Payload of ${message.name}`} value={message.payload} />
        )}
        <Json label={`Headers of ${message.name}`} value={message.headers} />
      </div>
    ))}
  </div>
);

const Snippets = ({ topic }: { readonly topic: Topic }): JSX.Element => (
  <div class="stack">
    <p class="muted">With Kafka and a schema registry behind the service:</p>
    {snippetsOf(topic.name).map(({ title, text }) => (
      <div key={title} class="stack">
        <h3>{title}</h3>
        <Code label={title} text={text} />
      </div>
    ))}
  </div>
);

function Groups({ topic, groups }: TopicDetailsProps): JSX.Element {
  const readers = readersOf(groups, topic.name);
  if (readers.length === 0) return <Empty title="No group of the service reads it" />;
  return (
    <Table
      label="Consumer groups"
      rows={readers}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Group', cell: ({ name }) => <span class="clip mono">{name}</span> },
        {
          title: 'Purpose',
          cell: ({ why }) => (
            <span class="clip" title={why}>
              {why}
            </span>
          ),
        },
        { title: 'Lag', fit: 'end', cell: ({ lag }) => lag.toLocaleString('en') },
      ]}
    />
  );
}
