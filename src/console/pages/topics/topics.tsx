import type { JSX } from 'preact';
import { Link } from 'wouter-preact';
import type { Topic as TopicSummary, Topic as Facts, TopicWithSchema } from '#client/index.ts';
import { useRead } from '../../data/read.ts';
import { pathOf, useParts } from '../../data/route.ts';
import { Clip } from '../../design/clip.tsx';
import { Code, Json } from '../../design/code.tsx';
import { LinkTabs } from '../../design/link-tabs.tsx';
import { Empty } from '../../design/states.tsx';
import { Table, type Column } from '../../design/table.tsx';
import { useAccess } from '../../session/context.tsx';
import { LoadedState } from '../../shell/loaded.tsx';
import { Page } from '../../shell/page.tsx';
import { Messages } from './messages.tsx';

/** The public topics: what they carry, how much, and who lags behind. */
export function Topics(): JSX.Element {
  const { path } = useAccess();
  const query = useRead('GET /topics', {}, { everyMs: 15_000 });
  return (
    <Page
      title="Topics"
      about="The public topics of the service, for data teams: messages, schemas, keys and consumers."
    >
      <LoadedState query={query}>
        {({ data }) => (
          <Table label="Topics" columns={columnsOf(path)} rows={data} keyOf={({ name }) => name} />
        )}
      </LoadedState>
    </Page>
  );
}

const columnsOf = (path: (page: string) => string): readonly Column<TopicSummary>[] => [
  {
    title: 'Topic',
    fit: 'short',
    cell: ({ name }) => (
      <Link href={path(pathOf('topics', name))} class="clip" title={name}>
        {name}
      </Link>
    ),
  },
  {
    title: 'Purpose',
    narrow: 'below',
    cell: ({ purpose }) => <Clip text={purpose} />,
  },
  { title: 'Partitions', fit: 'end', cell: ({ partitions }) => partitions },
  {
    title: 'Messages (at most)',
    fit: 'end',
    cell: ({ messages_max: most }) => most.toLocaleString('en'),
  },
  { title: 'Groups', fit: 'end', cell: ({ groups }) => groups.length },
  {
    title: 'Lag',
    fit: 'end',
    narrow: 'below end',
    cell: ({ groups }) =>
      groups.reduce((largest, { lag }) => Math.max(largest, lag), 0).toLocaleString('en'),
  },
];

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
        { title: 'Group', cell: ({ name }) => <Clip text={name} isMono /> },
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

interface Snippet {
  readonly title: string;
  readonly text: string;
}

/** Their topic is a placeholder; addresses are those of the reader's cluster. */
const consumers: readonly Snippet[] = [
  {
    title: 'kcat',
    text: `kcat -b localhost:9092 -C -t {topic} -o -10 -e \\
  -s value=avro -r http://localhost:8081 \\
  -f '%k %o %s\\n'`,
  },
  {
    title: 'Node (kafkajs)',
    text: `import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import { Kafka } from 'kafkajs';

const registry = new SchemaRegistry({ host: 'http://localhost:8081' });
const consumer = new Kafka({ brokers: ['localhost:9092'] }).consumer({ groupId: 'my-group' });
await consumer.connect();
await consumer.subscribe({ topic: '{topic}', fromBeginning: true });
await consumer.run({
  eachMessage: async ({ message }) => {
    // A message without a value is a tombstone: the key is gone.
    const value = message.value === null ? null : await registry.decode(message.value);
    console.log(message.key?.toString(), value);
  },
});`,
  },
  {
    title: 'Python (confluent-kafka)',
    text: `from confluent_kafka import DeserializingConsumer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer

registry = SchemaRegistryClient({'url': 'http://localhost:8081'})
consumer = DeserializingConsumer({
    'bootstrap.servers': 'localhost:9092',
    'group.id': 'my-group',
    'auto.offset.reset': 'earliest',
    'value.deserializer': AvroDeserializer(registry),
})
consumer.subscribe(['{topic}'])
while True:
    message = consumer.poll(1.0)
    if message is not None and message.error() is None:
        print(message.key(), message.value())`,
  },
  {
    title: 'Java (kafka-clients)',
    text: `var settings = new Properties();
settings.put("bootstrap.servers", "localhost:9092");
settings.put("schema.registry.url", "http://localhost:8081");
settings.put("group.id", "my-group");
settings.put("auto.offset.reset", "earliest");
// The default also reads what aborted transactions left.
settings.put("isolation.level", "read_committed");
settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
settings.put("value.deserializer", "io.confluent.kafka.serializers.KafkaAvroDeserializer");
try (var consumer = new KafkaConsumer<String, GenericRecord>(settings)) {
  consumer.subscribe(List.of("{topic}"));
  while (true) {
    for (var message : consumer.poll(Duration.ofSeconds(1))) {
      System.out.println(message.key() + " " + message.value());
    }
  }
}`,
  },
  {
    title: 'Kafka Connect (a sink of your choice)',
    text: `{
  "name": "my-sink",
  "connector.class": "…",
  "topics": "{topic}",
  "key.converter": "org.apache.kafka.connect.storage.StringConverter",
  "value.converter": "io.confluent.connect.avro.AvroConverter",
  "value.converter.schema.registry.url": "http://localhost:8081",
  "consumer.override.isolation.level": "read_committed",
  "errors.tolerance": "all",
  "errors.deadletterqueue.topic.name": "my-dead-letters"
}`,
  },
  {
    title: 'ClickHouse (Kafka engine)',
    text: `-- Name the fields of the schema that you need.
CREATE TABLE my_queue (event_id String, type String, occurred_at DateTime64(6, 'UTC'))
ENGINE = Kafka
SETTINGS kafka_broker_list = 'localhost:9092',
  kafka_topic_list = '{topic}',
  kafka_group_name = 'my-group',
  kafka_format = 'AvroConfluent',
  format_avro_schema_registry_url = 'http://localhost:8081',
  kafka_handle_error_mode = 'stream';`,
  },
];

/** Consumers of a topic, ready to copy. */
const snippetsOf = (topic: string): readonly Snippet[] =>
  consumers.map(({ title, text }) => ({ title, text: text.replaceAll('{topic}', topic) }));
