import { readFileSync } from 'node:fs';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { Cleanup } from '#ports/event-log.ts';
import { isPublicTopic, topics, type Topic } from '#streams/topics.ts';
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

/** A topic that exists in the log of this installation. */
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

/** The topics that an optional part makes at run time. */
export interface AddedTopics {
  /** Those that exist now. */
  catalogued(control: ControlPlane): readonly CataloguedTopic[];
  /** Channels of the AsyncAPI document, with parameters, that stand for all of them. */
  channels(installation: Installation): readonly AddedChannel[];
}

/** The values of the AsyncAPI document that depend on the installation. */
export interface Installation {
  readonly version: string;
  /** The earliest release that can open what this one writes. */
  readonly floor: string;
  /** Number of partitions of the owned topics. */
  readonly ownedPartitions: number;
  /** Replaces the first word `svc` of topic names. */
  readonly prefix: string;
}

export interface AddedChannel {
  readonly name: string;
  readonly address: string;
  readonly title: string;
  readonly description: string;
  /** What each parameter of the address is, by its name. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly cleanup: Cleanup;
  /** The parts of the key of a message. */
  readonly key: string;
  readonly messages: readonly AddedMessage[];
}

export interface AddedMessage {
  readonly kind: MessageKind;
  readonly name: string;
  readonly summary: string;
  /** Avro schema of the value; null: a tombstone. */
  readonly schema: JsonObject | null;
}

/** The public topics, by name. */
export function cataloguedTopics(
  control: ControlPlane,
  added: readonly AddedTopics[],
): CataloguedTopic[] {
  const all = [...ownTopics().map(ofOwn), ...added.flatMap((source) => source.catalogued(control))];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

const ofOwn = ({ name, why, key, cleanup, avro }: OwnTopic): CataloguedTopic => ({
  name,
  purpose: why,
  key,
  cleanup,
  kind: name === recordsTopic ? 'record' : 'event',
  schema: () => avro,
});
