import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { ControlCommand } from '#control-plane/entity.ts';
import {
  answerKind,
  commandsTopic,
  fromCommandValue,
  type CommandValue,
} from '#control-plane/message-codec.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { deadLetterHeader } from '../dead-letters/events.ts';
import { deadLetterStepMessage, stepMessage } from '../dead-letters/messages.ts';
import type { KeptAnswer, Round } from './round.ts';
import type { AddressedMessage, TopicWriters } from './topic-writers.ts';

export const ownersGroup = 'svc.control-owners';

/** Turns commands into decisions of a round, and the round's messages. */
export interface CommandRoom {
  readonly partition: number;
  readonly writers: TopicWriters;
  readonly codec: Codec<CommandValue>;
  readonly logger: Logger;
}

export type Answer =
  | { readonly outcome: 'done'; readonly state: object | null; readonly isSingle: boolean }
  | { readonly outcome: 'refused'; readonly error: GatewayError };

/**
 * Decides one command as part of the round; returns its messages, including its reply. Never throws: a command that
 * fails five times is parked as a dead letter and refused.
 */
export function decideCommand(
  room: CommandRoom,
  round: Round,
  message: ReadMessage,
  at: Instant,
  decision: number,
): AddressedMessage[] {
  let command: ControlCommand | null = null;
  for (let tries = 1; ; tries += 1) {
    try {
      if (message.value === null) return [];
      command = fromCommandValue(room.codec.decode(message.value));
      const { said, answer } = answered(room, round, command, at, decision);
      const refusal = answer.outcome === 'refused' ? answer.error : null;
      return [...said, ...retried(room, message, { refusal }, at)];
    } catch (error) {
      if (tries < limits.deadLetterFailures) continue;
      room.logger.error({ err: error, command: command?.id }, 'a command was parked');
      const isRetry = deadLetterOf(message) !== null;
      const parked = isRetry
        ? retried(room, message, { failure: error }, at)
        : [deadLetter(room, message, error, at)];
      const refused = { outcome: 'refused', error: new GatewayError('server_error') } as const;
      const reply = command === null ? [] : replyTo(room, command, refused, decision);
      return [...parked, ...reply];
    }
  }
}

/**
 * Decides a command that arrived past the log, as part of the round; returns its messages, without a reply. Null:
 * it could not be decided, and the round is unchanged; the command is retried over the log, and parked there if it
 * keeps failing.
 */
export function decideInProcess(
  room: CommandRoom,
  round: Round,
  command: ControlCommand,
  at: Instant,
): { readonly said: AddressedMessage[]; readonly answer: Answer } | null {
  try {
    return answered(room, round, { ...command, replyTo: null }, at, 0);
  } catch (err) {
    room.logger.warn({ err, command: command.id }, 'a command is retried over the log');
    return null;
  }
}

function answered(
  room: CommandRoom,
  round: Round,
  command: ControlCommand,
  at: Instant,
  decision: number,
): { readonly said: AddressedMessage[]; readonly answer: Answer } {
  const answer = (decided: Answer, messages: readonly AddressedMessage[] = []) => ({
    said: [...messages, ...replyTo(room, command, decided, decision)],
    answer: decided,
  });
  if (at > command.deadline) {
    return answer({ outcome: 'refused', error: new GatewayError('command_expired') });
  }
  const existing = keptAnswer(round, command, at);
  if (existing !== null) return answer(existing);
  try {
    const made = round.decide(command.items, { at, actor: command.actor });
    const messages = made.published.map(({ message, meta }) =>
      room.writers.published(message, meta, command.id),
    );
    const isSingle = command.items.length === 1;
    const done: Answer = { outcome: 'done', state: made.state, isSingle };
    const decided = answer(done, messages);
    round.accept(made);
    keepAnswer(round, command, done, at);
    return decided;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const refused: Answer = { outcome: 'refused', error };
    keepAnswer(round, command, refused, at);
    return answer(refused);
  }
}

/** The position of a reply is the first decision at which its answer is valid. */
function replyTo(
  room: CommandRoom,
  command: ControlCommand,
  answer: Answer,
  decision: number,
): AddressedMessage[] {
  if (command.replyTo === null) return [];
  const position = { partition: room.partition, offset: decision };
  // The answer to several commands would be large: the sender reads it from its view.
  const body = answer.outcome === 'done' && answer.isSingle ? answer.state : undefined;
  const reply = answer.outcome === 'done' ? ({ outcome: 'done', body } as const) : answer;
  return [
    room.writers.reply({
      commandId: command.id,
      node: command.replyTo,
      place: position,
      answer: reply,
    }),
  ];
}

/** The reply that the same Idempotency-Key got before; null = decide. */
function keptAnswer(round: Round, command: ControlCommand, at: Instant): Answer | null {
  const key = answerKey(command);
  const kept = key === null ? null : round.keptAnswer(key);
  if (kept === null || kept.until <= at) return null;
  if (kept.requestHash !== requestHash(command)) {
    return { outcome: 'refused', error: new GatewayError('idempotency_conflict') };
  }
  if (kept.error !== null) return { outcome: 'refused', error: GatewayError.from(kept.error) };
  return { outcome: 'done', state: kept.state, isSingle: command.items.length === 1 };
}

function keepAnswer(round: Round, command: ControlCommand, answer: Answer, at: Instant): void {
  const key = answerKey(command);
  if (key === null) return;
  const isDone = answer.outcome === 'done';
  const kept: KeptAnswer = {
    requestHash: requestHash(command),
    outcome: answer.outcome,
    error: isDone ? null : answer.error.toJSON(),
    state: isDone && answer.isSingle ? answer.state : null,
    until: at + limits.idempotencyMs,
  };
  round.putNote(key, scopeOf(command), kept);
}

const scopeOf = (command: ControlCommand): string => command.items[0]?.ref.scope ?? '';

function answerKey(command: ControlCommand): string | null {
  const { idempotencyKey, actor, items } = command;
  if (idempotencyKey === null) return null;
  // The kind separates entities that one request creates in one scope, such as an environment and its first key.
  return joinKey(answerKind, scopeOf(command), actor, items[0]?.ref.kind ?? '', idempotencyKey);
}

function requestHash(command: ControlCommand): string {
  if (command.requestHash !== null) return command.requestHash;
  const bodies = command.items.map(({ ref, body }) => [ref.kind, ref.path, body]);
  return createHash('sha256')
    .update(stableJson(bodies as unknown as Json))
    .digest('hex');
}

function deadLetter(
  room: CommandRoom,
  { key, value, offset, headers }: ReadMessage,
  error: unknown,
  at: Instant,
): AddressedMessage {
  const bytes = ([name, text]: [string, string]) => [name, Buffer.from(text)] as const;
  const message = deadLetterStepMessage(
    { key, environmentUid: '-' },
    {
      consumer: ownersGroup,
      topic: commandsTopic,
      partition: room.partition,
      offset,
      attempts: limits.deadLetterFailures,
      ...errorOf(error),
      key: Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers: Object.fromEntries(Object.entries(headers).map(bytes)),
    },
  );
  return room.writers.published(message, metaOf(key, at), null);
}

const deadLetterOf = ({ headers }: ReadMessage): string | null => headers[deadLetterHeader] ?? null;

/** Messages to operators about a command that they retried; none for other commands. */
function retried(
  room: CommandRoom,
  message: ReadMessage,
  outcome: { readonly refusal: GatewayError | null } | { readonly failure: unknown },
  at: Instant,
): AddressedMessage[] {
  const { key, offset } = message;
  const id = deadLetterOf(message);
  if (id === null) return [];
  const isDecided = 'refusal' in outcome;
  const error = isDecided
    ? { error_code: outcome.refusal?.code ?? '', error_message: outcome.refusal?.message ?? '' }
    : errorOf(outcome.failure);
  const step = stepMessage(
    { key, environmentUid: '-' },
    { id, consumer: ownersGroup, topic: commandsTopic, partition: room.partition, offset },
    {
      type: isDecided ? 'svc.dead-letter.resolved' : 'svc.dead-letter.retry_failed',
      attempts: isDecided ? 1 : limits.deadLetterFailures,
      errorCode: error.error_code,
      errorMessage: error.error_message,
    },
  );
  return [room.writers.published(step, metaOf(key, at), null)];
}

const errorOf = (error: unknown) => ({
  error_code: error instanceof GatewayError ? error.code : 'server_error',
  // The name only: the message of a bug may quote values.
  error_message: error instanceof Error ? error.name : 'unknown',
});

const metaOf = (key: string, at: Instant) => ({
  at,
  actor: 'system',
  ref: { kind: 'environment', scope: key, path: [] } as const,
});
