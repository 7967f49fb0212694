import type { ErrorCode, ErrorDetails } from '../kernel/errors.ts';
import type { Decider } from '../kernel/decider.ts';
import type { JsonObject } from '../kernel/stable-json.ts';
import type { Instant } from '../kernel/time.ts';

/** The nouns whose full state travels on `svc.internal.control.v1`. */
export type EntityKind =
  | 'environment'
  | 'account-key'
  | 'api-key'
  | 'variable'
  | 'integration'
  | 'connection'
  | 'function'
  | 'sync'
  | 'action-run';

/**
 * The name of an entity: `path` is unique within its kind, and `scope` is what all entities that must be
 * unique among each other share: it chooses the partition, so that one owner decides (design section 5).
 */
export interface EntityRef {
  readonly kind: EntityKind;
  readonly scope: string;
  readonly path: readonly string[];
}

/** A command as it travels. Secrets inside `body` are sealed before they get here. */
export interface ControlCommand {
  readonly id: string;
  readonly ref: EntityRef;
  readonly body: { readonly type: string } & JsonObject;
  /** `key:…`, `user:…`, `run:…` or `system`. */
  readonly actor: string;
  readonly at: Instant;
  /** Refused with `command_expired` after it. */
  readonly deadline: Instant;
  /** Node that waits for the reply; null = nobody. */
  readonly replyTo: string | null;
  readonly idempotencyKey: string | null;
}

export type CommandReply =
  | { readonly outcome: 'done'; readonly partition: number; readonly offset: number; readonly state: JsonObject | null }
  | { readonly outcome: 'refused'; readonly code: ErrorCode; readonly details: ErrorDetails };

/** A message for a public topic that an entity's event leads to, in the same transaction. */
export interface PublicMessage {
  readonly topic: string;
  readonly key: string;
  /** What the partition is chosen by; the key when absent. */
  readonly partitionBy?: string;
  /** The value after the common fields (contract/topics.md section 3); null = tombstone. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** `ce_type`, for example `svc.connection.created`. */
  readonly type: string;
  readonly environmentUid: string;
  readonly integration?: string;
  readonly connectionId?: string;
  readonly runId?: string;
}

export interface DecisionMeta {
  readonly at: Instant;
  readonly actor: string;
  readonly ref: EntityRef;
}

/** How the owner treats one kind: rules, public messages, time. State is plain JSON; null = absent. */
export interface EntityDefinition<S extends object, C extends { type: string }, E extends { type: string }> {
  readonly kind: EntityKind;
  readonly decider: Decider<S | null, C, E>;
  /** What the event means for readers of the public topics. */
  publish(event: E, before: S | null, after: S | null, meta: DecisionMeta): readonly PublicMessage[];
  /** When the owner must decide `{type:'Tick', at}` on it; null = never. */
  dueAt?(state: S): Instant | null;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry holds definitions of every type
export type AnyEntityDefinition = EntityDefinition<any, any, any>;
