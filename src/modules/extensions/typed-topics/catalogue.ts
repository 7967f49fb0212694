import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type {
  AddedChannel,
  AddedTopics,
  CataloguedTopic,
} from '#modules/operations/topics/catalogue.ts';
import { prefixed } from '#modules/operations/topics/prefix.ts';
import { heartbeatCleanup, typedTopicCleanup } from '#streams/topics.ts';
import { typedSchema } from './envelope.ts';
import { heartbeatSchema } from './heartbeat.ts';
import { heartbeatTopicOf, topicOf } from './names.ts';
import { allTypedTopics, schemaOfModel } from './queries.ts';
import type { TypedTopic } from './typed-topic.ts';

const key = 'connection uid/variant/record';

/** How the catalog of topics and the AsyncAPI document show typed topics. */
export const cataloguedTypedTopics: AddedTopics = {
  catalogued: (control) =>
    allTypedTopics(control)
      .filter(({ major }) => major > 0)
      .flatMap((topic) => [catalogued(control, topic), ...cataloguedHeartbeats(topic)]),
  channels: ({ prefix }) => [typedChannel(prefix), heartbeatChannel(prefix)],
};

const parameters = {
  environment: 'Name of the environment, in lower case.',
  integration: 'Unique key of the integration, in lower case, - for what is no letter or digit.',
  model: 'Name of the model, likewise.',
};

const typedChannel = (prefix: string): AddedChannel => ({
  name: 'typed',
  address: prefixed('svc.cdc.{environment}.{integration}.{model}.v{major}', prefix),
  title: 'Typed topic of a model',
  description:
    'Changes of the records of one model that is opted in, as Debezium change events; in the order and on ' +
    'the partition of the records topic.',
  parameters: {
    ...parameters,
    major: 'Grows when a change of the model forbids readers to follow.',
  },
  cleanup: typedTopicCleanup,
  key,
  messages: [
    {
      kind: 'record',
      name: 'Envelope',
      summary:
        'A change of a record. Value has a field for each of the model beside those shown here.',
      schema: schemaOf('svc.cdc.environment.integration.model', 'Model', null),
    },
    {
      kind: 'record-tombstone',
      name: 'EnvelopeGone',
      summary: 'A tombstone after each delete.',
      schema: null,
    },
  ],
});

const heartbeatPurpose =
  'how far the typed topic of a model is published, also while no record changes';

const heartbeatChannel = (prefix: string): AddedChannel => ({
  name: 'heartbeat',
  address: prefixed('svc.cdc.{environment}.{integration}.{model}.heartbeat', prefix),
  title: 'Heartbeats of a typed topic',
  description: `Says ${heartbeatPurpose}; on the partitions of the records topic.`,
  parameters,
  cleanup: heartbeatCleanup,
  key: 'typed topic',
  messages: [
    {
      kind: 'heartbeat',
      name: 'Heartbeat',
      summary: 'All changes of the partition before an offset of the records topic are published.',
      schema: heartbeatSchema('svc.cdc.environment.integration.model'),
    },
  ],
});

function cataloguedHeartbeats({ address, heartbeatS }: TypedTopic): CataloguedTopic[] {
  if (heartbeatS === undefined) return [];
  return [
    {
      name: heartbeatTopicOf(address),
      purpose: `Says ${heartbeatPurpose}.`,
      key: 'typed topic',
      cleanup: heartbeatCleanup,
      kind: 'heartbeat',
      schema: () => heartbeatSchema(address),
    },
  ];
}

function catalogued(control: ControlPlane, topic: TypedTopic): CataloguedTopic {
  const { address, major, environmentUid, integrationKey, model } = topic;
  return {
    name: topicOf(address, major),
    purpose: `Changes of the records of ${model} of the integration ${integrationKey}, as Debezium change events.`,
    key,
    cleanup: typedTopicCleanup,
    kind: 'record',
    schema: () =>
      schemaOf(address, model, schemaOfModel(control, environmentUid, integrationKey, model)),
  };
}

const schemaOf = (...model: Parameters<typeof typedSchema>): JsonObject =>
  typedSchema(...model).definition as JsonObject;
