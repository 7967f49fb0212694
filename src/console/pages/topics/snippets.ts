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
export const snippetsOf = (topic: string): readonly Snippet[] =>
  consumers.map(({ title, text }) => ({ title, text: text.replaceAll('{topic}', topic) }));
