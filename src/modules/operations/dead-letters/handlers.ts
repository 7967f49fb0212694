import {
  commandsTopic,
  deadLettersTopic,
  type CommandValue,
} from '#control-plane/message-codec.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import type { IdempotentCall } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import type { Schemas, Codec } from '#ports/schemas.ts';
import { consumerGroup, isConsumerGroup } from '#streams/consumer-groups.ts';
import { type DeadLetterValue, deadLetterHeader } from '#streams/dead-letters/events.ts';
import { aboutDeadLetter, stepMessage } from '#streams/dead-letters/messages.ts';
import type { DeadLetter } from '#streams/dead-letters/state.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { DeadLetters } from './view.ts';

/** The message of a dead letter, without secrets. */
interface ShownMessage {
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  /** The value decoded by its schema; null for a tombstone or an unreadable value. */
  readonly value: Json;
  readonly unreadable: string | null;
}

const listMax = 20;
/** `v1.<key id>.<ciphertext>` (credentials/open-vault.ts). */
const sealedText = /^v\d+\.[\w-]+\.[\w-]{20,}$/;

/**
 * Decodes the message by the schema of its topic. Bytes (payloads, bodies) and sealed texts are replaced by their size:
 * a dead letter may be of an internal topic.
 */
async function shownMessage(
  schemas: Schemas,
  topic: string,
  { key, value, headers }: DeadLetterValue,
): Promise<ShownMessage> {
  const texts = Object.entries(headers).map(([name, bytes]) => [
    name,
    Buffer.from(bytes).toString(),
  ]);
  const frame = {
    key: key === null ? null : Buffer.from(key).toString(),
    headers: Object.fromEntries(texts) as Record<string, string>,
    bytes: value?.length ?? 0,
  };
  if (value === null) return { ...frame, value: null, unreadable: null };
  try {
    const codec = await schemas.codec<unknown>(topic);
    return { ...frame, value: withoutContent(codec.decode(value)), unreadable: null };
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'log_unavailable') throw error;
    const unreadable = `The value does not fit the schema of ${topic}.`;
    return { ...frame, value: null, unreadable };
  }
}

function withoutContent(value: unknown): Json {
  if (value instanceof Uint8Array) return { bytes: value.length };
  if (Array.isArray(value)) {
    const shown = value.slice(0, listMax).map(withoutContent);
    return value.length > listMax ? [...shown, `… ${value.length - listMax} more`] : shown;
  }
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, item]) => [name, withoutContent(item)]);
    return Object.fromEntries(fields) as Json;
  }
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Strings that contain JSON are parsed, because they may contain sealed values. */
function shownText(text: string): Json {
  if (sealedText.test(text)) return '[sealed]';
  if (!text.startsWith('{') && !text.startsWith('[')) return text;
  try {
    const inner = parseWrittenJson(text) as Json;
    return isJsonObject(inner) || Array.isArray(inner) ? withoutContent(inner) : text;
  } catch {
    return text;
  }
}

interface Deps {
  readonly deadLetters: DeadLetters;
  readonly publisher: Publisher;
  readonly schemas: Schemas;
}

export interface Ordering {
  readonly actor: string;
  readonly idempotency?: IdempotentCall;
}

/** How long a response waits for the consumer. */
const outcomeWithinMs = 5_000;

/** @throws GatewayError `not_found` */
export async function findDeadLetter({ deadLetters }: Deps, id: string): Promise<DeadLetter> {
  await deadLetters.caughtUp();
  const deadLetter = deadLetters.tables.get(id);
  if (deadLetter !== null) return deadLetter;
  throw new GatewayError('not_found', { message: `The dead letter ${id} does not exist.` });
}

/** The message of the dead letter; null after the log has deleted it. */
export async function messageOf(
  { deadLetters, schemas }: Deps,
  deadLetter: DeadLetter,
): Promise<ShownMessage | null> {
  const content = await deadLetters.valueAt(deadLetter.place);
  return content === null ? null : shownMessage(schemas, deadLetter.topic, content);
}

/**
 * Makes the consumer that parked the message retry it, and waits for a limited time for the
 * outcome.
 * @throws GatewayError `not_found`; `conflict` unless it is parked
 */
export async function retryDeadLetter(deps: Deps, id: string, by: Ordering): Promise<DeadLetter> {
  const { consumer } = await findDeadLetter(deps, id);
  const reason = isConsumerGroup(consumer) ? consumerGroup(consumer).noRetry : undefined;
  if (reason !== undefined) {
    throw new GatewayError('conflict', {
      message: `${consumer} does not retry messages. ${reason}`,
    });
  }
  const ordered = await order(deps, id, 'svc.dead-letter.retried', by);
  return outcomeSoon(deps.deadLetters, ordered);
}

/** @throws GatewayError `not_found`; `conflict` unless it is parked or dropped */
export async function dropDeadLetter(deps: Deps, id: string, by: Ordering): Promise<void> {
  const deadLetter = await findDeadLetter(deps, id);
  if (deadLetter.state !== 'dropped') await order(deps, id, 'svc.dead-letter.dropped', by);
}

async function order(
  deps: Deps,
  id: string,
  type: 'svc.dead-letter.retried' | 'svc.dead-letter.dropped',
  { actor, idempotency }: Ordering,
): Promise<DeadLetter> {
  const deadLetter = await findDeadLetter(deps, id);
  const orderKey =
    idempotency === undefined ? null : `${type}/${actor}/${idempotency.idempotencyKey}`;
  const isKnown = (subject: DeadLetter): boolean =>
    orderKey !== null && subject.order?.key === orderKey;
  if (isKnown(deadLetter)) return deadLetter;
  if (deadLetter.state !== 'parked') throw notParked(deadLetter);
  const message = stepMessage(aboutDeadLetter(deadLetter), deadLetter, { type, orderKey });
  const [position] = await deps.publisher.publish([message], actor);
  const now = await findDeadLetter(deps, id);
  // Two requests may be concurrent: the log decides which came first.
  if (now.order?.offset !== position?.offset && !isKnown(now)) throw notParked(now);
  return now;
}

const notParked = ({ id, state }: DeadLetter): GatewayError =>
  new GatewayError('conflict', {
    message: `The dead letter ${id} is ${state}: only a parked one can be retried or dropped.`,
  });

async function outcomeSoon(deadLetters: DeadLetters, ordered: DeadLetter): Promise<DeadLetter> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const now = (): DeadLetter => deadLetters.tables.get(ordered.id) ?? ordered;
  const look = (): void => {
    if (now().state !== 'retrying') resolve(undefined);
  };
  const stop = deadLetters.onChange(look);
  const timer = setTimeout(resolve, outcomeWithinMs, undefined);
  look();
  try {
    await promise;
    return now();
  } finally {
    clearTimeout(timer);
    stop();
  }
}

/** Deadline of a retried command. */
const decideWithinMs = 3_600_000;
/** Topics whose consumers are owners: a retry appends the command to its topic again. */
const ownedTopics = new Set<string>([recordCommandsTopic, commandsTopic]);

interface CommandRetriesDeps extends ReactorDeps {
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
}

/**
 * Appends the commands that operators retry to their topics: consumer group `svc.command-retries`. The header names the
 * dead letter, so that the owner reports the outcome; a command that is appended twice is decided once.
 */
export async function startCommandRetries(deps: CommandRetriesDeps): Promise<AsyncDisposable> {
  const { log, schemas, deadLetters } = deps;
  const commands = await schemas.codec<CommandValue>(commandsTopic);
  return startReactor<DeadLetterValue>(deps, {
    group: 'svc.command-retries',
    topic: deadLettersTopic,
    async handle(step, { message }) {
      if (step.type !== 'svc.dead-letter.retried' || !ownedTopics.has(step.topic)) return;
      await deadLetters.caughtUp();
      const deadLetter = deadLetters.tables.get(step.letter_id ?? '');
      // A request that arrived too late, or was already executed.
      if (deadLetter?.state !== 'retrying' || deadLetter.order?.offset !== message.offset) return;
      const content = await deadLetters.valueAt(deadLetter.place);
      if (content?.value === null || content === null) return;
      const value = fresh(deps, commands, deadLetter, Buffer.from(content.value));
      const headers = { 'content-type': 'application/avro', [deadLetterHeader]: deadLetter.id };
      const { topic, partition, key } = deadLetter;
      await log.append([{ topic, partition, messages: [{ key, value, headers }] }]);
    },
  });
}

/**
 * A command of the control plane gets a new deadline, and a key under which it is decided once. An unreadable command
 * is appended unchanged: its owner refuses it again.
 */
function fresh(
  { clock }: CommandRetriesDeps,
  codec: Codec<CommandValue>,
  { id, topic, order }: DeadLetter,
  value: Buffer,
): Buffer {
  if (topic !== commandsTopic) return value;
  let command: CommandValue;
  try {
    command = codec.decode(value);
  } catch {
    return value;
  }
  const deadline = clock.now() + decideWithinMs;
  const key = command.idempotency_key ?? `${deadLetterHeader}/${id}/${order?.offset ?? 0}`;
  return codec.encode({ ...command, deadline, idempotency_key: key });
}
