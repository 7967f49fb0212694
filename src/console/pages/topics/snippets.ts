interface Snippet {
  readonly title: string;
  readonly text: string;
}

/** Consumers of a topic, ready to copy; the addresses are those of the reader's cluster. */
export const snippetsOf = (topic: string): readonly Snippet[] => [
  {
    title: 'kcat',
    text: `kcat -b localhost:9092 -C -t ${topic} -o -10 -e \\
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
await consumer.subscribe({ topic: '${topic}', fromBeginning: true });
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
consumer.subscribe(['${topic}'])
while True:
    message = consumer.poll(1.0)
    if message is not None and message.error() is None:
        print(message.key(), message.value())`,
  },
];
