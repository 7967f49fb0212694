import { splitKey } from '#kernel/ids.ts';
import type * as values from '#streams/values.ts';
import type { ControlCommand, EntityRef } from './entity.ts';

export const commandsTopic = 'svc.internal.commands.v1';
export const controlTopic = 'svc.internal.control.v1';
export const repliesTopic = 'svc.internal.replies.v1';
export const deadLettersTopic = 'svc.dead-letters.v1';

/** A value of `svc.internal.commands.v1`. */
export type CommandValue = values.ControlCommand;

/** A value of `svc.internal.control.v1`; `state` is JSON. */
export type EntityValue = values.ControlEntity;

/** A value of `svc.internal.replies.v1`; `details` is JSON of `ErrorDetails`. */
export interface ReplyValue extends values.Reply {
  readonly outcome: 'done' | 'refused';
}

/** Header of every control message: messages of an epoch lower than one already seen are ignored. */
export const epochHeader = 'svc-epoch';

/** Kind of the owner's own notes; views skip them. */
export const ownerKey = '~owner';
export const answerKind = '~answer';

/**
 * Note that ends each decision of an owner. `decision` increases by one each time, so that a node knows which
 * decisions its view has applied.
 */
export interface OwnerNote {
  readonly decision: number;
  /** How many numeric ids were assigned. */
  readonly numbers: number;
  /** Offset of the next command to decide: authoritative, unlike the group's position, which is a hint. */
  readonly nextCommand: number;
  readonly epoch: number;
}

export function toCommandValue(command: ControlCommand): CommandValue {
  return {
    id: command.id,
    scope: command.items[0]?.ref.scope ?? '',
    items: command.items.map(({ ref, body }) => {
      return { kind: ref.kind, path: [...ref.path], body: JSON.stringify(body) };
    }),
    actor: command.actor,
    at: command.at,
    deadline: command.deadline,
    reply_to: command.replyTo,
    idempotency_key: command.idempotencyKey,
    request_hash: command.requestHash,
  };
}

export function fromCommandValue(value: CommandValue): ControlCommand {
  return {
    id: value.id,
    items: value.items.map(({ kind, path, body }) => ({
      // The sender's types are the same; the owner refuses an unknown kind.
      ref: { kind: kind, scope: value.scope, path },
      body: JSON.parse(body) as ControlCommand['items'][number]['body'],
    })),
    actor: value.actor,
    at: value.at,
    deadline: value.deadline,
    replyTo: value.reply_to,
    idempotencyKey: value.idempotency_key,
    requestHash: value.request_hash,
  };
}

/** The entity of a control message's key; its scope is not in the key. */
export function refOfKey(key: string, scope: string): EntityRef {
  const [kind = '', ...path] = splitKey(key);
  return { kind: kind, scope, path };
}
