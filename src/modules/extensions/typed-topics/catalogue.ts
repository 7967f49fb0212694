import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { AddedTopics, CataloguedTopic } from '#modules/operations/topics/catalogue.ts';
import { prefixed } from '#modules/operations/topics/prefix.ts';
import { typedTopicCleanup } from '#streams/topics.ts';
import { typedSchema } from './envelope.ts';
import { topicOf } from './names.ts';
import { allTypedTopics, schemaOfModel } from './queries.ts';
import type { TypedTopic } from './typed-topic.ts';

const key = 'connection uid/variant/record';

/** How the catalog of topics and the AsyncAPI document show typed topics. */
export const cataloguedTypedTopics: AddedTopics = {
  catalogued: (control) =>
    allTypedTopics(control)
      .filter(({ major }) => major > 0)
      .map((topic) => catalogued(control, topic)),
  channel: ({ prefix }) => ({
    name: 'typed',
    address: prefixed('svc.cdc.{environment}.{integration}.{model}.v{major}', prefix),
    title: 'Typed topic of a model',
    description:
      'Changes of the records of one model that is opted in, as Debezium change events; in the order and on ' +
      'the partition of the records topic.',
    parameters: {
      environment: 'Name of the environment, in lower case.',
      integration:
        'Unique key of the integration, in lower case, - for what is no letter or digit.',
      model: 'Name of the model, likewise.',
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
  }),
};

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
