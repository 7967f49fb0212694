import { splitKey } from '../kernel/ids.ts';
import type { Instant } from '../kernel/time.ts';
import type { ControlCommand, EntityRef } from './entity.ts';

export const commandsTopic = 'svc.internal.commands.v1';
export const controlTopic = 'svc.internal.control.v1';
export const repliesTopic = 'svc.internal.replies.v1';
export const deadLettersTopic = 'svc.dead-letters.v1';

/** A value of `svc.internal.commands.v1`. */
export interface CommandValue {
  readonly id: string;
  readonly scope: string;
  readonly items: readonly {
    readonly kind: string;
    readonly path: string[];
    readonly body: string;
  }[];
  readonly actor: string;
  readonly at: Instant;
  readonly deadline: Instant;
  readonly reply_to: string | null;
  readonly idempotency_key: string | null;
  readonly request_hash: string | null;
}

/** A value of `svc.internal.control.v1`. */
export interface EntityValue {
  readonly kind: string;
  readonly scope: string;
  readonly path: readonly string[];
  /** JSON. */
  readonly state: string;
  readonly decided_at: Instant;
}

/** A value of `svc.internal.replies.v1`. */
export interface ReplyValue {
  readonly command_id: string;
  readonly node: string;
  readonly outcome: 'done' | 'refused';
  readonly partition: number;
  readonly offset: number;
  readonly code: string | null;
  /** JSON of `ErrorDetails`. */
  readonly details: string | null;
  /** JSON. */
  readonly body: Uint8Array | null;
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
