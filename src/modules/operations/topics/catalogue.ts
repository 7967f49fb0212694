import { readFileSync } from 'node:fs';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { Cleanup } from '#ports/event-log.ts';
import { isPublicTopic, topics, typedTopicCleanup, type Topic } from '#streams/topics.ts';
import { typedSchema } from '../typed-topics/envelope.ts';
import { topicOf } from '../typed-topics/names.ts';
import { allTypedTopics, schemaOfModel } from '../typed-topics/queries.ts';
import type { TypedTopic } from '../typed-topics/typed-topic.ts';
import type { MessageKind } from './headers.ts';

/** A topic of `streams/topics.ts` that is public, with the Avro schema of its values. */
export interface OwnTopic extends Topic {
  readonly name: string;
  readonly avro: JsonObject & { readonly name: string; readonly doc: string };
}

export const ownTopics = (): OwnTopic[] =>
  Object.entries(topics)
    .filter(([name]) => isPublicTopic(name))
    .map(([name, topic]) => {
      const file = new URL(`../../../../schemas/${topic.schema}`, import.meta.url);
      return { ...topic, name, avro: JSON.parse(readFileSync(file, 'utf8')) as OwnTopic['avro'] };
    });

/** The settings of a topic by their names in Kafka. */
export function settingsOf(cleanup: Cleanup): JsonObject {
  switch (cleanup.policy) {
    case 'delete':
      return { 'cleanup.policy': ['delete'], 'retention.ms': cleanup.retentionMs };
    case 'none':
      return { 'cleanup.policy': ['delete'], 'retention.ms': -1 };
    case 'compact':
      return {
        'cleanup.policy': ['compact'],
        'min.compaction.lag.ms': cleanup.minLagMs,
        'max.compaction.lag.ms': cleanup.maxLagMs,
        'delete.retention.ms': cleanup.tombstoneMs,
      };
  }
}

/** A topic that exists in the log of this installation, typed ones included. */
export interface CataloguedTopic {
  /** Not prefixed. */
  readonly name: string;
  readonly purpose: string;
  /** The parts of the key of a message. */
  readonly key: string;
  readonly cleanup: Cleanup;
  readonly kind: MessageKind;
  /** Avro schema of the values. */
  readonly schema: () => JsonObject;
}

/** The public topics, by name. */
export function cataloguedTopics(control: ControlPlane): CataloguedTopic[] {
  const typed = allTypedTopics(control).filter(({ major }) => major > 0);
  return [...ownTopics().map(ofOwn), ...typed.map((one) => ofTyped(control, one))].sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
}

const ofOwn = ({ name, why, key, cleanup, avro }: OwnTopic): CataloguedTopic => ({
  name,
  purpose: why,
  key,
  cleanup,
  kind: name === recordsTopic ? 'record' : 'event',
  schema: () => avro,
});

function ofTyped(control: ControlPlane, typed: TypedTopic): CataloguedTopic {
  const { address, major, environmentUid, integrationKey, model } = typed;
  return {
    name: topicOf(address, major),
    purpose: `Changes of the records of ${model} of the integration ${integrationKey}, as Debezium change events.`,
    key: typedTopicKey,
    cleanup: typedTopicCleanup,
    kind: 'record',
    schema: () => {
      const models = schemaOfModel(control, environmentUid, integrationKey, model);
      return typedSchema(address, model, models).definition as JsonObject;
    },
  };
}

export const typedTopicKey = 'connection uid/variant/record';
