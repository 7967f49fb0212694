import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';
import type { PublishedValues } from '#streams/values.ts';

/**
 * The types of one kind of entity, declared once in the `entity.ts` of its noun: references, the definition, commands
 * and views have them from there.
 */
export interface EntityTypes {
  /** Name of the definition. The full state of its entities travels on `svc.internal.control.v1`. */
  readonly kind: string;
  /** Plain JSON. */
  readonly state: object;
  /** The decider's commands, with the fields that the owner adds. */
  readonly command: { readonly type: string };
  readonly event: { readonly type: string };
  /** The fields of commands that `facts` of the definition adds. */
  readonly facts?: object;
  /** Names of the indexes by which views find entities. */
  readonly index?: string;
  /** The public topics to which its definition publishes. */
  readonly topic?: keyof PublishedValues;
}

declare const types: unique symbol;

/** A kind with its types: the definition of the kind, or a reference to one of its entities. */
export interface EntityKind<E extends EntityTypes = EntityTypes> {
  readonly kind: E['kind'];
  /** Never present: it gives the types to inference. */
  readonly [types]?: E;
}

/** What a view finds an entity by: `path` is unique within its kind. */
export interface EntityPath<E extends EntityTypes = EntityTypes> extends EntityKind<E> {
  readonly path: readonly string[];
}

/**
 * The name of an entity. `scope` is shared by all entities that must be unique
 * among each other; it selects the partition, so that one owner decides (docs/architecture.md#two-kinds-of-owner).
 */
export interface EntityRef<E extends EntityTypes = EntityTypes> extends EntityPath<E> {
  readonly scope: string;
}

type FactOf<E> = E extends { readonly facts: infer F } ? keyof F : never;

/** A message that the kind publishes; none where its types have no `topic`. */
type MessageOf<E> = E extends { readonly topic: infer T extends keyof PublishedValues }
  ? PublicMessage<T>
  : never;

export type IndexOf<E> = E extends { readonly index: infer I extends string } ? I : never;

/** Fields that the owner adds to commands of any kind. */
type Stamp = 'at' | 'numericId';

/** Undefined fields are absent after transport, so that a field that may be absent may be undefined. */
type Without<C, Added extends PropertyKey> = C extends unknown
  ? {
      readonly [Field in keyof C as Exclude<Field, Added>]:
        | C[Field]
        | (undefined extends C[Field] ? undefined : never);
    }
  : never;

/** A command before the owner adds its fields. */
type UnstampedCommand<E extends EntityTypes> = Without<E['command'], Stamp | FactOf<E>>;

/** A function of the command, so that the commands of several kinds become those that all of them accept. */
type Acceptance<E> = E extends EntityTypes
  ? (command: Exclude<UnstampedCommand<E>, { readonly type: 'Tick' }>) => void
  : never;

/**
 * A command as it is sent: that of the decider without the fields that the owner adds, and without `Tick`, which the
 * owner sends. None where the kind is not known.
 */
export type CommandOf<E extends EntityTypes> = string extends E['kind']
  ? never
  : Acceptance<E> extends (command: infer C) => void
    ? C
    : never;

/** Whether the reference is to an entity of the kind. */
export const isOfKind = <E extends EntityTypes>(
  { kind }: EntityKind<E>,
  ref: EntityRef,
): ref is EntityRef<E> => ref.kind === kind;

/** A command to one entity, of any kind. Undefined fields are absent after transport. */
export type CommandBody = { readonly type: string } & Readonly<Record<string, unknown>>;

declare const checked: unique symbol;

/** An entity and a command that its kind accepts: `commandTo` makes it. */
export interface CommandRequest<E extends EntityTypes = EntityTypes> {
  readonly ref: EntityRef<E>;
  readonly body: CommandBody;
  /** Never present. */
  readonly [checked]: true;
}

export function commandTo<E extends EntityTypes>(
  ref: EntityRef<E>,
  body: CommandOf<E>,
): CommandRequest<E> {
  // In transport all commands have one type.
  return { ref, body } as unknown as CommandRequest<E>;
}

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
  find<E extends EntityTypes>(entity: EntityPath<E>): E['state'] | null;
  /** Those whose path starts with the prefix, in path order. */
  list<E extends EntityTypes>(kind: EntityKind<E>, prefix: readonly string[]): E['state'][];
}

/** Values by which entities of a kind are found; null = not in the index. */
export type EntityIndexes<S, Name extends string = string> = Readonly<
  Record<Name, (state: S) => string | null>
>;

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

interface CommonDefinition<E extends EntityTypes> extends EntityKind<E> {
  readonly decider: Decider<E['state'] | null, E['command'], E['event']>;
  /** Public messages that follow from the event. */
  publish(
    event: E['event'],
    before: E['state'] | null,
    after: E['state'] | null,
    meta: DecisionMeta,
  ): readonly MessageOf<E>[];
  /** Commands to entities of the same scope that follow from the event: part of the same decision, right after it. */
  follow?(
    event: E['event'],
    before: E['state'] | null,
    after: E['state'] | null,
    ref: EntityRef<E>,
  ): readonly CommandRequest[];
  /** Whether entities have a number: commands to an absent one then carry a fresh, unique `numericId`. */
  readonly isNumbered?: true;
  /** When the owner must decide `{type:'Tick', at}` on it; null = never. */
  dueAt?(state: E['state']): Instant | null;
  readonly searchTable?: SearchTable<E['state']>;
}

/** Facts about siblings that the decision needs; added to the command's fields. Pure. */
type FactsDefinition<E extends EntityTypes> = E extends { readonly facts: object }
  ? {
      facts(
        command: UnstampedCommand<E>,
        ref: EntityRef<E>,
        siblings: Siblings,
      ): Readonly<E['facts']> | Readonly<Record<string, never>>;
    }
  : { readonly facts?: undefined };

/** What views find entities by besides their path. */
type IndexDefinition<E extends EntityTypes> = E extends { readonly index: string }
  ? { readonly indexes: EntityIndexes<E['state'], E['index']> }
  : { readonly indexes?: undefined };

/** The topics of `publish`, which the owner opens. */
type TopicsDefinition<E extends EntityTypes> = E extends { readonly topic: keyof PublishedValues }
  ? { readonly publishes: Readonly<Record<E['topic'], true>> }
  : { readonly publishes?: undefined };

/** How the owner treats one kind: rules, public messages, time. A state is plain JSON; null = absent. */
export type EntityDefinition<E extends EntityTypes> = CommonDefinition<E> &
  FactsDefinition<E> &
  IndexDefinition<E> &
  TopicsDefinition<E>;

// oxlint-disable-next-line typescript/no-explicit-any -- a registry holds definitions of every type
export type AnyEntityDefinition = EntityDefinition<any>;

/** All kinds, by name; the composition root has them. */
export type EntityDefinitions = Readonly<Record<string, AnyEntityDefinition>>;
