import { recordsTopic } from '#modules/records/model/events.ts';
import { partitionsOf, typedTopicCleanup, type Topic } from '#streams/topics.ts';
import { typedSchema } from '../typed-topics/envelope.ts';
import { ownTopics, settingsOf, typedTopicKey, type OwnTopic } from './catalogue.ts';
import { headersSchema, type MessageKind } from './headers.ts';
import { prefixed } from './prefix.ts';

/** Version of the Kafka bindings that the document follows. */
const bindingVersion = '0.5.0';
const schemaFormat = 'application/vnd.apache.avro+json;version=1.9.0';

type Json = Readonly<Record<string, unknown>>;

/** The values that depend on the installation. */
export interface Installation {
  readonly version: string;
  /** The earliest release that can open what this one writes. */
  readonly floor: string;
  /** Number of partitions of the owned topics. */
  readonly ownedPartitions: number;
  /** Replaces the first word `svc` of topic names. */
  readonly prefix: string;
}

/** The AsyncAPI 3.0 document of the public topics. */
export function asyncapiDocument(info: Installation): Json {
  const all = ownTopics();
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'svc: public topics',
      version: info.version,
      'x-data-floor': info.floor,
      description:
        'Everything the gateway says on the event log, as CloudEvents 1.0 in binary mode. Read committed, ' +
        'de-duplicate on ce_id, ignore unknown types, actions, fields and headers, skip the key "-".',
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/avro',
    channels: {
      ...byName(all, (topic) => channel(topic, info)),
      [typedChannelName]: typedChannel(info),
    },
    operations: {
      ...byName(all, operation),
      [typedChannelName]: sends(typedChannelName, Object.keys(typedMessages())),
    },
    components: { messages: { ...Object.fromEntries(all.flatMap(messages)), ...typedMessages() } },
  };
}

const byName = <T extends { readonly name: string }>(all: readonly T[], make: (one: T) => Json) =>
  Object.fromEntries(all.map((one) => [one.name, make(one)]));

function channel(topic: OwnTopic, { ownedPartitions, prefix }: Installation): Json {
  const { name, cleanup, why } = topic;
  return {
    address: prefixed(name, prefix),
    title: name,
    description: why,
    messages: references(messages(topic).map(([id]) => id)),
    bindings: {
      kafka: {
        topic: prefixed(name, prefix),
        partitions: partitionsOf(topic, ownedPartitions),
        topicConfiguration: settingsOf(cleanup),
        bindingVersion,
      },
    },
  };
}

const references = (ids: readonly string[]): Json =>
  Object.fromEntries(ids.map((id) => [id, { $ref: `#/components/messages/${id}` }]));

const operation = (topic: OwnTopic): Json =>
  sends(
    topic.name,
    messages(topic).map(([id]) => id),
  );

function sends(name: string, ids: readonly string[]): Json {
  const reference = `#/channels/${name}`;
  return {
    action: 'send',
    channel: { $ref: reference },
    summary: `Says what happened on ${name}.`,
    messages: ids.map((id) => ({ $ref: `${reference}/messages/${id}` })),
  };
}

/** The messages of a topic by their id: its values and, where it is compacted, tombstones. */
function messages(topic: OwnTopic): [string, Json][] {
  const isRecords = topic.name === recordsTopic;
  const { name, doc } = topic.avro;
  const value = {
    ...messageOf(topic, isRecords ? 'record' : 'event'),
    name,
    title: name,
    summary: doc,
    contentType: 'application/avro',
    payload: { schemaFormat, schema: topic.avro },
  };
  if (topic.cleanup.policy !== 'compact') return [[name, value]];
  const tombstone = {
    ...messageOf(topic, isRecords ? 'record-tombstone' : 'tombstone'),
    name: `${name}Gone`,
    title: `${name}Gone`,
    summary: 'A tombstone, without a value: what the key names is gone, and a table drops its row.',
    payload: { type: 'null' },
  };
  return [
    [name, value],
    [`${name}Gone`, tombstone],
  ];
}

function messageOf(topic: Pick<Topic, 'key'>, kind: MessageKind): Json {
  const headers = headersSchema(kind);
  const key = {
    type: 'string',
    description: `${topic.key}; UTF-8, each part percent-encoded.`,
  };
  const isEvent = 'ce_correlationid' in headers.properties;
  return {
    headers,
    ...(isEvent ? { correlationId: { location: '$message.header#/ce_correlationid' } } : {}),
    bindings: {
      kafka: {
        key,
        ...(kind === 'event' || kind === 'record'
          ? {
              schemaIdLocation: 'payload',
              schemaIdPayloadEncoding: '4',
              schemaLookupStrategy: 'TopicNameStrategy',
            }
          : {}),
        bindingVersion,
      },
    },
  };
}

/** Represents the topics that are created at run time, one per opted-in model. */
const typedChannelName = 'typed';
const typedTopic = { key: typedTopicKey };

function typedChannel({ ownedPartitions, prefix }: Installation): Json {
  const parameter = (description: string) => ({ description });
  return {
    address: prefixed('svc.cdc.{environment}.{integration}.{model}.v{major}', prefix),
    title: 'Typed topic of a model',
    description:
      'Changes of the records of one model that is opted in, as Debezium change events; in the order and on ' +
      'the partition of the records topic.',
    parameters: {
      environment: parameter('Name of the environment, in lower case.'),
      integration: parameter(
        'Unique key of the integration, in lower case, - for what is no letter or digit.',
      ),
      model: parameter('Name of the model, likewise.'),
      major: parameter('Grows when a change of the model forbids readers to follow.'),
    },
    messages: references(Object.keys(typedMessages())),
    bindings: {
      kafka: {
        partitions: ownedPartitions,
        topicConfiguration: settingsOf(typedTopicCleanup),
        bindingVersion,
      },
    },
  };
}

function typedMessages(): Record<string, Json> {
  const { definition } = typedSchema('svc.cdc.environment.integration.model', 'Model', null);
  return {
    Envelope: {
      ...messageOf(typedTopic, 'record'),
      name: 'Envelope',
      title: 'Envelope',
      summary:
        'A change of a record. Value has a field for each of the model beside those shown here.',
      contentType: 'application/avro',
      payload: { schemaFormat, schema: definition },
    },
    EnvelopeGone: {
      ...messageOf(typedTopic, 'record-tombstone'),
      name: 'EnvelopeGone',
      title: 'EnvelopeGone',
      summary: 'A tombstone after each delete.',
      payload: { type: 'null' },
    },
  };
}
