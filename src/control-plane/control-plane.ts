import type {
  CommandOf,
  CommandRequest,
  EntityKind,
  EntityPath,
  EntityRef,
  EntityTypes,
  IndexOf,
} from './entity.ts';

export interface ExecuteOptions {
  readonly actor: string;
  /** How long the command may wait for its decision; default 15 s. */
  readonly timeoutMs?: number;
  /** The client's Idempotency-Key. The owner keeps the first answer for 24 h per scope and actor. */
  readonly idempotencyKey?: string;
  /**
   * Keyed hash of the request. The same key with another hash is an `idempotency_conflict`. Required if the body
   * holds generated ids or sealed values; otherwise defaults to the hash of the body.
   */
  readonly requestHash?: string;
  /**
   * Default true. False resolves with the owner's reply at once: the caller must not then look for the entity in
   * this node's view.
   */
  readonly isViewAwaited?: boolean;
  /**
   * Default false. True: an owner in this process that holds the partition decides before the command is on the
   * log. The command then has no order relative to commands on the log, including those of its own node.
   */
  readonly isDirect?: boolean;
}

/** Sends commands to the owners of the control plane and reads this node's view of what they decided. */
export interface ControlPlane {
  /**
   * Resolves with the state after the decision (null = gone), once this node's view has it: a client
   * reads its own writes. The owner adds to the body: `at` (its time), `numericId` while the entity of a
   * numbered kind does not exist, and the facts of the kind's definition.
   * @throws GatewayError what the decider refused with; `command_expired`; `log_unavailable`
   */
  execute<E extends EntityTypes>(
    ref: EntityRef<E>,
    body: CommandOf<E>,
    options: ExecuteOptions,
  ): Promise<E['state'] | null>;
  /**
   * Decides all commands in order, or none: one refusal refuses all of them. All refs must have the same scope,
   * because one owner decides. A later command sees the effect of an earlier one. Resolves with this node's view of
   * each entity, at or after the decision.
   * @throws GatewayError as `execute`; `invalid_request` when the scopes differ
   */
  askAll<const C extends readonly CommandRequest[]>(
    commands: C,
    options: ExecuteOptions,
  ): Promise<StatesAfter<C>>;
  /**
   * Resolves when the command is durable on the log. It is decided later; the outcome is not reported.
   * @throws GatewayError `log_unavailable`
   */
  enqueue<E extends EntityTypes>(
    ref: EntityRef<E>,
    body: CommandOf<E>,
    options: { readonly actor: string },
  ): Promise<void>;
  readonly view: ControlView;
}

/** Of each command in order; null = gone. */
type StatesAfter<C extends readonly CommandRequest[]> = {
  readonly [I in keyof C]: C[I] extends CommandRequest<infer E> ? E['state'] | null : never;
};

export interface FoundEntity<E extends EntityTypes> {
  readonly ref: EntityRef<E>;
  readonly state: E['state'];
}

export interface ViewQuery {
  readonly sql: string;
  readonly values: readonly (string | number)[];
  /** The query is made for each position of the kind's index of texts, which is its first value, instead of once. */
  readonly containing?: {
    readonly environmentUid: string;
    readonly text: string;
    /** The greatest position. */
    readonly upTo: bigint;
    /** Rows of the result, after `offset` others. */
    readonly limit: number;
    readonly offset: number;
  };
}

type RefOfKind<K extends EntityKind> = K extends EntityKind<infer E> ? EntityRef<E> : never;

/**
 * The local materialized view of `svc.internal.control.v1` (SQLite). Reads are synchronous and never leave the
 * process; await `caughtUp` before reporting an entity as unknown.
 */
export interface ControlView {
  find<E extends EntityTypes>(entity: EntityPath<E>): E['state'] | null;
  /** Whether there is any entity of the kind, in any scope. */
  has(kind: EntityKind): boolean;
  /** Entities whose path starts with the prefix, in path order. */
  list<E extends EntityTypes>(kind: EntityKind<E>, prefix: readonly string[]): FoundEntity<E>[];
  /** By a field that the kind's definition declares as indexed, for example a key hash. */
  findBy<E extends EntityTypes>(
    kind: EntityKind<E>,
    index: IndexOf<E>,
    value: string,
  ): FoundEntity<E> | null;
  listBy<E extends EntityTypes>(
    kind: EntityKind<E>,
    index: IndexOf<E>,
    value: string,
  ): FoundEntity<E>[];
  /** By a query of the search table of the kind, which selects `key`, `scope` and `state` of `entities`. */
  search<E extends EntityTypes>(kind: EntityKind<E>, query: ViewQuery): FoundEntity<E>[];
  /** The column `total` of the one row of such a query. */
  count(sql: string, values: readonly (string | number)[]): number;
  /** Resolves when the view has applied everything that was in the log at the call (shared, at most every 50 ms). */
  caughtUp(): Promise<void>;
  /** Called after each applied batch with its changed entities of the kinds, if there are any. */
  onChange<K extends EntityKind>(
    kinds: readonly K[],
    listener: (changed: readonly RefOfKind<K>[]) => void,
  ): () => void;
}

/**
 * What `find` finds in this node's view or, if nothing, what it finds once the view has caught up: another node may
 * just have created it.
 */
export async function findCaughtUp<T>(
  view: Pick<ControlView, 'caughtUp'>,
  find: () => T | null,
): Promise<T | null> {
  const existing = find();
  if (existing !== null) return existing;
  await view.caughtUp();
  return find();
}
