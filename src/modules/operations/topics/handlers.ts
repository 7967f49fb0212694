import { z } from 'zod';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { cursorOf } from '#http/cursor.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import type { Json } from '#kernel/stable-json.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import {
  consumerGroup,
  consumerGroups,
  isConsumerGroup,
  type ConsumerGroupName,
} from '#streams/consumer-groups.ts';
import { positionsIn, rangesOf, type PartitionRange } from '../consumer-groups/positions.ts';
import { cataloguedTopics, type AddedTopics, type CataloguedTopic } from './catalogue.ts';
import { partitionOfKey } from './key-partition.ts';
import {
  newestMessages,
  oldestMessages,
  type PartitionMessage,
  type Stretch,
} from './read-messages.ts';

/** The value of a message for people. */
interface MessageContent {
  readonly kind: 'value' | 'tombstone' | 'unreadable';
  /** Of the value as it was written; null without one. */
  readonly schemaId: number | null;
  readonly value: Json;
  /** Why the value cannot be read. */
  readonly error: string | null;
}

/**
 * Decodes a value as it was written. Bytes are shown by their size, because they are sealed or belong to another
 * message, except for the payload of a record in the clear.
 * @throws GatewayError `registry_unavailable`: a schema cannot be loaded now
 */
function contentOf(
  schemas: Pick<Schemas, 'decodeWritten'>,
  topic: string,
  { value }: Pick<ReadMessage, 'value'>,
): MessageContent {
  if (value === null) return { kind: 'tombstone', schemaId: null, value: null, error: null };
  try {
    const written = schemas.decodeWritten(value);
    const shown = shownValue(written.value);
    const isRecord = topic === recordsTopic;
    const withPayload = isRecord ? withClearPayload(written.value, shown) : shown;
    return { kind: 'value', schemaId: written.schemaId, value: withPayload, error: null };
  } catch (error) {
    if (error instanceof GatewayError && error.code !== 'log_corrupt') throw error;
    return { kind: 'unreadable', schemaId: null, value: null, error: reasonOf(error) };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof GatewayError
    ? error.message
    : 'The value does not fit the schema that it names.';

function shownValue(value: unknown): Json {
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) return value.map(shownValue);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shownValue(one)]));
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

/** Sealed payloads stay sealed: the account has no access to the data keys of connections. */
function withClearPayload(written: unknown, shown: Json): Json {
  if (typeof written !== 'object' || written === null || !isFields(shown)) return shown;
  const { payload, payload_encoding: encoding } = written as Readonly<Record<string, unknown>>;
  if (!(payload instanceof Uint8Array) || encoding !== 'json') return shown;
  try {
    return { ...shown, payload: parseRawJson(Buffer.from(payload).toString()) as Json };
  } catch {
    return shown;
  }
}

const isFields = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Deps extends LogPorts {
  readonly control: ControlPlane;
  readonly addedTopics: readonly AddedTopics[];
}

export interface GroupLag {
  readonly name: ConsumerGroupName;
  readonly lag: number;
}

/** A topic with what the log has of it. */
export interface TopicFacts extends CataloguedTopic {
  readonly ranges: readonly PartitionRange[];
  readonly groups: readonly GroupLag[];
}

export async function listTopics(deps: Deps): Promise<TopicFacts[]> {
  await deps.control.view.caughtUp();
  return Promise.all(
    cataloguedTopics(deps.control, deps.addedTopics).map((topic) => factsOf(deps, topic)),
  );
}

/** @throws GatewayError `not_found` */
export async function findTopic(deps: Deps, name: string): Promise<TopicFacts> {
  return factsOf(deps, await requireTopic(deps, name));
}

/** Topics under `svc.internal.` do not exist here. */
async function requireTopic(
  { control, addedTopics }: Deps,
  name: string,
): Promise<CataloguedTopic> {
  await control.view.caughtUp();
  const found = cataloguedTopics(control, addedTopics).find((topic) => topic.name === name);
  if (found !== undefined) return found;
  throw new GatewayError('not_found', {
    message: `No public topic ${name}: GET /topics lists them.`,
  });
}

async function factsOf({ log }: Deps, topic: CataloguedTopic): Promise<TopicFacts> {
  const ranges = await rangesOf(log, topic.name);
  const names = Object.keys(consumerGroups)
    .filter(isConsumerGroup)
    .filter((name) => consumerGroup(name).topic === topic.name);
  const groups = names.map(async (name) => {
    const positions = await positionsIn(log, { group: name, topic: topic.name }, ranges);
    return { name, lag: positions.reduce((sum, { lag }) => sum + lag, 0) };
  });
  return { ...topic, ranges, groups: await Promise.all(groups) };
}

/** Where a page begins; at most one of offset, since and key is there. Without them: the newest messages. */
export interface WantedMessages {
  readonly partition?: number | undefined;
  /** From this offset of the partition on. */
  readonly offset?: number | undefined;
  /** From this time on, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only messages with this key, newest first. */
  readonly key?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface ShownMessage extends Omit<PartitionMessage, 'value'>, MessageContent {
  /** Size of the value in the log. */
  readonly written: number;
}

export interface MessagesPage {
  readonly messages: readonly ShownMessage[];
  readonly nextCursor: string | null;
  /** The partitions that were searched. */
  readonly ranges: readonly PartitionRange[];
}

const offset = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
/** Of each searched partition: where its rest begins, or with `newest` ends. */
const messagesCursor = cursorOf(
  z.tuple([z.enum(['newest', 'oldest']), z.array(offset).min(1).max(10_000)]),
);

/**
 * A page of the messages of a topic. The search ends after a while even if nothing was found: the cursor goes on.
 * @throws GatewayError `not_found`; `invalid_query_params`; `invalid_cursor_value`
 */
export async function messagesOfTopic(
  deps: Deps,
  name: string,
  wanted: WantedMessages,
  signal: AbortSignal,
): Promise<MessagesPage> {
  const topic = await requireTopic(deps, name);
  const ranges = searchedOf(name, await rangesOf(deps.log, name), wanted);
  const { key, limit } = wanted;
  const isOldest = wanted.offset !== undefined || wanted.since !== undefined;
  const order = isOldest ? 'oldest' : 'newest';
  const stretches = await stretchesOf(deps, name, { ranges, wanted, order });
  const read = isOldest ? oldestMessages : newestMessages;
  const page = await read(deps.log, stretches, {
    limit,
    signal: AbortSignal.any([signal, AbortSignal.timeout(limits.topicMessagesSearchMs)]),
    isWanted: key === undefined ? () => true : (message) => message.key === key,
  });
  const isLeft = page.rest.some(({ from, to }) => from < to);
  const offsets = page.rest.map(({ from, to }) => (isOldest ? from : to));
  return {
    messages: page.messages.map((one) => ({
      ...one,
      ...contentOf(deps.schemas, topic.name, one),
      written: one.value?.length ?? 0,
    })),
    nextCursor: isLeft ? messagesCursor.text([order, offsets]) : null,
    ranges,
  };
}

function searchedOf(
  topic: string,
  ranges: readonly PartitionRange[],
  { partition, offset: at, key }: WantedMessages,
): readonly PartitionRange[] {
  if (partition !== undefined) {
    const range = ranges[partition];
    if (range === undefined) {
      throw wrong('partition', `${topic} has the partitions 0 to ${ranges.length - 1}.`);
    }
    if (at !== undefined && at > range.end) {
      const { start, end } = range;
      throw wrong(
        'offset',
        `Partition ${partition} of ${topic} has the offsets ${start} to ${end}.`,
      );
    }
    return [range];
  }
  if (at !== undefined) {
    throw wrong('partition', 'An offset belongs to one partition: name it with partition.');
  }
  const placed = key === undefined ? null : partitionOfKey(topic, key, ranges.length);
  return placed === null ? ranges : ranges.filter((range) => range.partition === placed);
}

async function stretchesOf(
  { log }: Deps,
  topic: string,
  search: {
    readonly ranges: readonly PartitionRange[];
    readonly wanted: WantedMessages;
    readonly order: 'newest' | 'oldest';
  },
): Promise<Stretch[]> {
  const { ranges, wanted, order } = search;
  const limitsOf = wanted.cursor === undefined ? null : offsetsOf(wanted.cursor, ranges, order);
  return Promise.all(
    ranges.map(async ({ partition, start, end }, index) => {
      const limit = limitsOf?.[index];
      if (order === 'newest') return { topic, partition, from: start, to: limit ?? end };
      const since = async () =>
        wanted.since === undefined ? start : log.offsetAt(topic, partition, wanted.since);
      const from = limit ?? wanted.offset ?? (await since());
      return { topic, partition, from: Math.max(start, from), to: end };
    }),
  );
}

function offsetsOf(
  cursor: string,
  ranges: readonly PartitionRange[],
  order: 'newest' | 'oldest',
): readonly number[] {
  const [wantedOrder, offsets] = messagesCursor.parse(cursor);
  const isOfSearch =
    wantedOrder === order &&
    offsets.length === ranges.length &&
    offsets.every((one, index) => one <= (ranges[index]?.end ?? 0));
  if (!isOfSearch) throw new GatewayError('invalid_cursor_value');
  return offsets;
}

const wrong = (field: string, message: string): GatewayError =>
  new GatewayError('invalid_query_params', {
    message,
    errors: [{ code: 'invalid_value', message, path: [field] }],
  });
