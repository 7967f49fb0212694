import type { JSX } from 'preact';
import type { Topic as Facts, TopicWithSchema } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Code, Json } from '../../design/code.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { LinkTabs } from '../../design/tabs.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { Messages } from './messages.tsx';
import { snippetsOf } from './snippets.ts';

const tabs = [
  { id: 'messages', label: 'Messages', scope: 'account:topics:read_messages' },
  { id: 'schema', label: 'Schema', scope: 'account:topics:read' },
  { id: 'consume', label: 'Consume', scope: 'account:topics:read' },
  { id: 'groups', label: 'Groups', scope: 'account:topics:read' },
  { id: 'settings', label: 'Settings', scope: 'account:topics:read' },
] as const;

/** One topic: its messages, schemas, consumers and settings. */
export function Topic(): JSX.Element {
  const { can, path } = useAccess();
  const [, name = '', part] = useParts();
  const query = useRead('GET /topics/{name}', { params: { name } });
  const offered = tabs.filter(({ scope }) => can(scope));
  const current = (offered.find((tab) => tab.id === part) ?? offered[0])?.id;
  return (
    <Page title={name} about={query.data?.data.purpose} crumbs={[['Topics', path('/topics')]]}>
      <LinkTabs
        label="Topic"
        current={current ?? ''}
        tabs={offered.map((tab) => ({ ...tab, href: path(pathOf('topics', name, tab.id)) }))}
      />
      <LoadedState query={query}>
        {({ data }) => (
          <>
            {current === 'messages' && <Messages topic={data} />}
            {current === 'schema' && <Schema topic={data} />}
            {current === 'consume' && <Snippets topic={data} />}
            {current === 'groups' && <Groups topic={data} />}
            {current === 'settings' && <Settings topic={data} />}
          </>
        )}
      </LoadedState>
    </Page>
  );
}

interface DetailProps {
  readonly topic: TopicWithSchema;
}

const Schema = ({ topic }: DetailProps): JSX.Element => (
  <div class="stack">
    <h2>Key</h2>
    <p>
      <span class="mono">{topic.key}</span>, in UTF-8, each part percent-encoded.
    </p>
    <h2>Value</h2>
    <Json label="Schema of the value" value={topic.value_schema} />
    <h2>Headers</h2>
    <Json label="Schema of the headers" value={topic.headers_schema} />
  </div>
);

const Snippets = ({ topic }: DetailProps): JSX.Element => (
  <div class="stack">
    <p class="muted">With Kafka and a schema registry behind the service:</p>
    {snippetsOf(topic.address).map(({ title, text }) => (
      <div key={title} class="stack">
        <h2>{title}</h2>
        <Code label={title} text={text} />
      </div>
    ))}
  </div>
);

function Groups({ topic }: { readonly topic: Pick<Facts, 'groups'> }): JSX.Element {
  if (topic.groups.length === 0) return <Empty title="No group of the service reads it" />;
  return (
    <Table
      label="Consumer groups"
      rows={topic.groups}
      keyOf={({ name }) => name}
      columns={[
        { title: 'Group', cell: ({ name }) => <span class="clip mono">{name}</span> },
        { title: 'Lag', fit: 'end', cell: ({ lag }) => lag.toLocaleString('en') },
      ]}
    />
  );
}

const Settings = ({ topic }: DetailProps): JSX.Element => (
  <div class="stack">
    <Json label="Settings" value={{ partitions: topic.partitions, ...topic.settings }} />
    <Table
      label="Partitions"
      rows={topic.ranges}
      keyOf={({ partition }) => String(partition)}
      columns={[
        { title: 'Partition', cell: ({ partition }) => partition },
        { title: 'Oldest offset', fit: 'end', cell: ({ start }) => start.toLocaleString('en') },
        { title: 'Next offset', fit: 'end', cell: ({ end }) => end.toLocaleString('en') },
      ]}
    />
  </div>
);
