import { recordsTopic } from '#modules/records/model/events.ts';
import { partitionsOf, type Topic } from '#streams/topics.ts';
import {
  ownTopics,
  settingsOf,
  type AddedChannel,
  type AddedTopics,
  type Installation,
  type OwnTopic,
} from './catalogue.ts';
import { headersSchema, type MessageKind } from './headers.ts';
import { prefixed } from './prefix.ts';

/** Version of the Kafka bindings that the document follows. */
const bindingVersion = '0.5.0';
const schemaFormat = 'application/vnd.apache.avro+json;version=1.9.0';

type Json = Readonly<Record<string, unknown>>;

/** The AsyncAPI 3.0 document of the public topics. */
export function asyncapiDocument(info: Installation, added: readonly AddedTopics[]): Json {
  const all = ownTopics();
  const channels = added.flatMap((source) => source.channels(info));
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
      ...byName(channels, (one) => addedChannel(one, info)),
    },
    operations: {
      ...byName(all, operation),
      ...byName(channels, (one) => sends(one.name, namesOf(one))),
    },
    components: {
      messages: Object.fromEntries([...all.flatMap(messages), ...channels.flatMap(addedMessages)]),
    },
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
        ...('content-type' in headers.properties
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

const namesOf = ({ messages: all }: AddedChannel): string[] => all.map(({ name }) => name);

function addedChannel(added: AddedChannel, { ownedPartitions }: Installation): Json {
  const { address, title, description, parameters, cleanup } = added;
  return {
    address,
    title,
    description,
    parameters: Object.fromEntries(
      Object.entries(parameters).map(([name, text]) => [name, { description: text }]),
    ),
    messages: references(namesOf(added)),
    bindings: {
      kafka: {
        partitions: ownedPartitions,
        topicConfiguration: settingsOf(cleanup),
        bindingVersion,
      },
    },
  };
}

const addedMessages = ({ key, messages: all }: AddedChannel): [string, Json][] =>
  all.map(({ kind, name, summary, schema }) => [
    name,
    {
      ...messageOf({ key }, kind),
      name,
      title: name,
      summary,
      ...(schema === null
        ? { payload: { type: 'null' } }
        : { contentType: 'application/avro', payload: { schemaFormat, schema } }),
    },
  ]);
