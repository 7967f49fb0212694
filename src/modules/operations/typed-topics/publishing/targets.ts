import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Codec, Schemas } from '#ports/schemas.ts';
import { typedTopicCleanup } from '#streams/topics.ts';
import { typedTopicRef } from '../entity.ts';
import { typedSchema, type Envelope, type TypedSchema } from '../envelope.ts';
import { topicOf } from '../names.ts';
import { allTypedTopics, schemaOfModel } from '../queries.ts';
import type { TypedTopic } from '../typed-topic.ts';

/** A model that is opted in, with the JSON schema that declares it now; null when no sync does. */
export interface Target {
  readonly typed: TypedTopic;
  readonly models: JsonObject | null;
}

/** A target whose topic and schema exist. */
export interface OpenTarget extends Target {
  readonly topic: string;
  readonly codec: Codec<Envelope>;
  readonly row: TypedSchema['row'];
}

/** The opted-in models in the view of this node. */
export class Targets implements Disposable {
  readonly #control: ControlPlane;
  readonly #unsubscribe: () => void;
  #list: readonly Target[];
  #text: string;
  #changed = new AbortController();

  constructor(control: ControlPlane) {
    this.#control = control;
    this.#list = targetsOf(control);
    this.#text = targetsText(this.#list);
    this.#unsubscribe = control.view.onChange((changed) => {
      if (changed.some(({ kind }) => kind === 'typed-topic' || kind === 'function')) this.#look();
    });
  }

  /** `changed` aborts when the list is out of date. */
  current(): { readonly list: readonly Target[]; readonly changed: AbortSignal } {
    return { list: this.#list, changed: this.#changed.signal };
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }

  #look(): void {
    const list = targetsOf(this.#control);
    const text = targetsText(list);
    if (text === this.#text) return;
    this.#list = list;
    this.#text = text;
    this.#changed.abort();
    this.#changed = new AbortController();
  }
}

function targetsOf(control: ControlPlane): Target[] {
  return allTypedTopics(control).map((typed) => {
    const { environmentUid, integrationKey, model } = typed;
    return { typed, models: schemaOfModel(control, environmentUid, integrationKey, model) };
  });
}

/** The relevant fields of a target, without the newest major version, which is looked up. */
const targetsText = (list: readonly Target[]): string =>
  JSON.stringify(list.map(({ typed, models }) => [{ ...typed, major: 0 }, models]));

interface OpenDeps extends LogPorts {
  readonly control: Pick<ControlPlane, 'enqueue'>;
}

/**
 * Creates the topic and registers the schema: in the newest major version, or in a new one when the earlier schemas of
 * that version are incompatible with the current model. Earlier versions are never reused. Null: the opt-in ended
 * before the topic was created.
 */
export async function openTarget(deps: OpenDeps, target: Target): Promise<OpenTarget | null> {
  const { log, schemas, control } = deps;
  const { typed, models } = target;
  const { address, model, environmentUid, integrationKey } = typed;
  const { definition, row } = typedSchema(address, model, models);
  const newest = await newestMajor(log, address);
  if (newest === 0 && typed.endedAt !== null) return null;
  let major = Math.max(newest, 1);
  let codec = await codecOf(schemas, topicOf(address, major), definition);
  while (codec === null) codec = await codecOf(schemas, topicOf(address, ++major), definition);
  const topic = topicOf(address, major);
  const partitions = await log.partitions(recordsTopic);
  if (major > newest) {
    await log.ensureTopics([{ name: topic, partitions, cleanup: typedTopicCleanup }]);
  }
  if (major > typed.major) {
    const ref = typedTopicRef(environmentUid, integrationKey, model);
    await control.enqueue(ref, { type: 'Opened', major }, { actor: 'system' });
  }
  return { ...target, topic, codec, row };
}

async function newestMajor(log: EventLog, address: string): Promise<number> {
  for (let major = 1; ; major++) {
    try {
      await log.partitions(topicOf(address, major));
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'unknown_topic') return major - 1;
      throw error;
    }
  }
}

/** Null when this schema is incompatible with the topic's earlier schemas. */
async function codecOf(
  schemas: Schemas,
  topic: string,
  definition: object,
): Promise<Codec<Envelope> | null> {
  try {
    return await schemas.codecOf<Envelope>(topic, definition);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'incompatible_schema') return null;
    throw error;
  }
}
