import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';
import type { PublishedValues } from '#streams/values.ts';

/** Name of an entity's definition. The full state of its entities travels on `svc.internal.control.v1`. */
export type EntityKind = string;

/**
 * The name of an entity: `path` is unique within its kind. `scope` is shared by all entities that must be unique
 * among each other; it selects the partition, so that one owner decides (docs/architecture.md#two-kinds-of-owner).
 */
export interface EntityRef {
  readonly kind: EntityKind;
  readonly scope: string;
  readonly path: readonly string[];
}

/** A command to one entity. Undefined fields are absent after transport. */
export type CommandBody = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A command in transport. Secrets inside `body` are already sealed. */
export interface ControlCommand {
  readonly id: string;
  /** One, or several that are decided together; all of one scope. */
  readonly items: readonly { readonly ref: EntityRef; readonly body: CommandBody }[];
  /** `key:…`, `user:…`, `run:…` or `system`. */
  readonly actor: string;
  readonly at: Instant;
  /** After this time the command is refused with `command_expired`. */
  readonly deadline: Instant;
  /** Node that waits for the reply; null = no reply. */
  readonly replyTo: string | null;
  readonly idempotencyKey: string | null;
  readonly requestHash: string | null;
}

/** The parts of a public message besides its topic and value. */
interface PublicEnvelope {
  readonly key: string;
  /** What the partition is chosen by; default: the key. */
  readonly partitionBy?: string;
  /** `ce_type`, for example `svc.connection.created`. */
  readonly type: string;
  readonly environmentUid: string;
  readonly integration?: string;
  readonly connectionId?: string;
  readonly runId?: string;
  /** When it happened, µs; default: the time of the write. */
  readonly at?: number;
  /** The trace that it belongs to; default: the current one. */
  readonly trace?: string;
}

/** A message of a public topic. Its value has the fields after the common ones (`PublicFields`); null = tombstone. */
export type PublicMessage<Topic extends keyof PublishedValues = keyof PublishedValues> = {
  readonly [T in Topic]: PublicEnvelope & {
    readonly topic: T;
    readonly value: PublishedValues[T] | null;
  };
}[Topic];

export interface DecisionMeta {
  readonly at: Instant;
  readonly actor: string;
  readonly ref: EntityRef;
}

/** Other entities that a decision may read: those of the same scope, which the same owner decides. */
export interface Siblings {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the kind's state
  find<S>(kind: EntityKind, path: readonly string[]): S | null;
  /** Those whose path starts with the prefix, in path order. */
  list<S>(kind: EntityKind, prefix: readonly string[]): S[];
}

/** Values by which entities of a kind are found; null = not in the index. */
export type EntityIndexes<S> = Readonly<Record<string, (state: S) => string | null>>;

/** The index of entities that are being deleted, under `yes`. */
export const whileDeleting = ({ isDeleting }: { readonly isDeleting: boolean }): string | null =>
  isDeleting ? 'yes' : null;

/** An additional table of the view by which a noun searches. */
export interface SearchTable<S> {
  readonly name: string;
  /** Creates the table and its indexes; the first column is `key TEXT PRIMARY KEY`, the key of the entity. */
  readonly ddl: string;
  /** The other columns in order; null: the entity is not in the table. */
  row(state: S): readonly (string | number | bigint | null)[] | null;
  /** Whether the table has the columns of an index of texts (`text-index.ts`). */
  readonly hasTexts?: true;
}

/** How the owner treats one kind: rules, public messages, time. State is plain JSON; null = absent. */
export interface EntityDefinition<
  S extends object,
  C extends { type: string },
  E extends { type: string },
> {
  readonly kind: EntityKind;
  readonly decider: Decider<S | null, C, E>;
  /** Public messages that follow from the event. */
  publish(
    event: E,
    before: S | null,
    after: S | null,
    meta: DecisionMeta,
  ): readonly PublicMessage[];
  /** Whether entities have a number: commands to an absent one then carry a fresh, unique `numericId`. */
  readonly isNumbered?: true;
  /** Facts about siblings that the decision needs; merged into the command's fields. Pure. */
  facts?(
    command: CommandBody,
    ref: EntityRef,
    siblings: Siblings,
  ): Readonly<Record<string, unknown>>;
  /** When the owner must decide `{type:'Tick', at}` on it; null = never. */
  dueAt?(state: S): Instant | null;
  /** What views find it by besides its path. */
  readonly indexes?: EntityIndexes<S>;
  readonly searchTable?: SearchTable<S>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a registry holds definitions of every type
export type AnyEntityDefinition = EntityDefinition<any, any, any>;

/** All kinds, by name; the composition root has them. */
export type EntityDefinitions = Readonly<Record<EntityKind, AnyEntityDefinition>>;
