import type { Decider } from '../kernel/decider.ts';
import type { Instant } from '../kernel/time.ts';

/** Name of an entity's definition. The full state of its entities travels on `svc.internal.control.v1`. */
export type EntityKind = string;

/**
 * The name of an entity: `path` is unique within its kind, and `scope` is what all entities that must be
 * unique among each other share: it chooses the partition, so that one owner decides (docs/architecture.md#two-kinds-of-owner).
 */
export interface EntityRef {
  readonly kind: EntityKind;
  readonly scope: string;
  readonly path: readonly string[];
}

/** A command to one entity. What is undefined is absent once it has traveled. */
export type CommandBody = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A command as it travels. Secrets inside `body` are sealed before they get here. */
export interface ControlCommand {
  readonly id: string;
  /** One, or several that are decided together; all of one scope. */
  readonly items: readonly { readonly ref: EntityRef; readonly body: CommandBody }[];
  /** `key:…`, `user:…`, `run:…` or `system`. */
  readonly actor: string;
  readonly at: Instant;
  /** Refused with `command_expired` after it. */
  readonly deadline: Instant;
  /** Node that waits for the reply; null = nobody. */
  readonly replyTo: string | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string | null;
}

/** A message for a public topic that an entity's event leads to, in the same transaction. */
export interface PublicMessage {
  readonly topic: string;
  readonly key: string;
  /** What the partition is chosen by; the key when absent. */
  readonly partitionBy?: string;
  /** The value after the common fields (`PublicFields`); null = tombstone. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** `ce_type`, for example `svc.connection.created`. */
  readonly type: string;
  readonly environmentUid: string;
  readonly integration?: string;
  readonly connectionId?: string;
  readonly runId?: string;
  /** When it happened; when it is written where that is absent, µs. */
  readonly at?: number;
  /** The trace that it belongs to; that of what is being done when absent. */
  readonly trace?: string;
}

export interface DecisionMeta {
  readonly at: Instant;
  readonly actor: string;
  readonly ref: EntityRef;
}

/** What a decision may know of other entities: those of the same scope, which the same owner decides. */
export interface Siblings {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the kind's state
  find<S>(kind: EntityKind, path: readonly string[]): S | null;
  /** Those whose path starts with the prefix, in path order. */
  list<S>(kind: EntityKind, prefix: readonly string[]): S[];
}

/** Values by which entities of a kind are found; null = this one is not in the index. */
export type EntityIndexes<S> = Readonly<Record<string, (state: S) => string | null>>;

/** A table of the view beside the entities: what a noun searches by. */
export interface SearchTable<S> {
  readonly name: string;
  /** Makes it, with its indexes; its first column is `key TEXT PRIMARY KEY`, of the entity. */
  readonly ddl: string;
  /** The other columns in their order; null: the entity is not in it. */
  row(state: S): readonly (string | number | null)[] | null;
}

/** How the owner treats one kind: rules, public messages, time. State is plain JSON; null = absent. */
export interface EntityDefinition<
  S extends object,
  C extends { type: string },
  E extends { type: string },
> {
  readonly kind: EntityKind;
  readonly decider: Decider<S | null, C, E>;
  /** What the event means for readers of the public topics. */
  publish(
    event: E,
    before: S | null,
    after: S | null,
    meta: DecisionMeta,
  ): readonly PublicMessage[];
  /** Whether entities have a number: commands to an absent one then carry a fresh, unique `numericId`. */
  readonly isNumbered?: true;
  /** What the decision needs to know of siblings; laid over the command's fields. Pure. */
  facts?(
    command: CommandBody,
    ref: EntityRef,
    siblings: Siblings,
  ): Readonly<Record<string, unknown>>;
  /** When the owner must decide `{type:'Tick', at}` on it; null = never. */
  dueAt?(state: S): Instant | null;
  /** What views find it by beside its path. */
  readonly indexes?: EntityIndexes<S>;
  readonly searchTable?: SearchTable<S>;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a registry holds definitions of every type
export type AnyEntityDefinition = EntityDefinition<any, any, any>;

/** All kinds, by name; the composition root has them. */
export type EntityDefinitions = Readonly<Record<EntityKind, AnyEntityDefinition>>;
