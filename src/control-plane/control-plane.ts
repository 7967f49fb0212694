import type { JsonObject } from '../kernel/stable-json.ts';
import type { CommandBody, EntityKind, EntityRef } from './entity.ts';

export interface ExecuteOptions {
  readonly actor: string;
  /** How long the command may wait for its decision; default 15 s. */
  readonly timeoutMs?: number;
  /** The client's Idempotency-Key. The owner keeps the first answer for 24 h per scope and actor. */
  readonly idempotencyKey?: string;
  /**
   * Keyed hash of what the client sent. With the same key another hash is an `idempotency_conflict`. Needed
   * where the body holds made-up ids or sealed values; the hash of the body when absent.
   */
  readonly requestHash?: string;
  /**
   * Default true. False resolves with the owner's answer at once: what follows must not look for the entity in this
   * node's view.
   */
  readonly isViewAwaited?: boolean;
  /**
   * Default false. True: an owner in this process decides without the command being on the log first, if it has the
   * partition. The command has then no order among those that are on the log, its own node's included.
   */
  readonly isDirect?: boolean;
}

/** One of several commands that are decided together. */
export interface Executed {
  readonly ref: EntityRef;
  readonly body: CommandBody;
}

/** Sends commands to the owners of the control plane and reads this node's view of what they decided. */
export interface ControlPlane {
  /**
   * Resolves with the state after the decision (null = gone), once this node's view has it: a client
   * reads its own writes. The owner adds to the body: `at` (its time), `numericId` while the entity of a
   * numbered kind does not exist, and the facts of the kind's definition.
   * @throws GatewayError what the decider refused with; `command_expired`; `log_unavailable`
   */
  execute<S extends object = JsonObject>(
    ref: EntityRef,
    body: CommandBody,
    options: ExecuteOptions,
  ): Promise<S | null>;
  /**
   * Decides all commands in their order, or none of them: the first refusal refuses the whole. All refs
   * must have the same scope, for one owner decides. A later command sees what an earlier one did. Resolves
   * with this node's view of each entity, at or after the decision.
   * @throws GatewayError as `ask`; `invalid_request` when the scopes differ
   */
  askAll(commands: readonly Executed[], options: ExecuteOptions): Promise<(JsonObject | null)[]>;
  /**
   * Resolves when the log has the command durably; it is decided later, and nobody hears the outcome.
   * @throws GatewayError `log_unavailable`
   */
  enqueue(ref: EntityRef, body: CommandBody, options: { readonly actor: string }): Promise<void>;
  readonly view: ControlView;
}

export interface Found<S> {
  readonly ref: EntityRef;
  readonly state: S;
}

/**
 * The local materialized view of `svc.internal.control.v1` (SQLite). Reads are synchronous and never leave the process;
 * `caughtUp` is asked before answering "unknown".
 */
export interface ControlView {
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the kind's state
  find<S>(kind: EntityKind, path: readonly string[]): S | null;
  /** Entities whose path starts with the prefix, in path order. */
  list<S>(kind: EntityKind, prefix: readonly string[]): Found<S>[];
  /** By a field that the kind's definition declares as indexed, for example a key hash. */
  findBy<S>(kind: EntityKind, index: string, value: string): Found<S> | null;
  listBy<S>(kind: EntityKind, index: string, value: string): Found<S>[];
  /** By a query of a definition's search table, which selects `key`, `scope` and `state` of `entities`. */
  search<S>(sql: string, values: readonly (string | number)[]): Found<S>[];
  /** Resolves when the view has applied what was in the log at the call (shared, at most every 50 ms). */
  caughtUp(): Promise<void>;
  /** Called after each applied batch with what changed. */
  onChange(listener: (changed: readonly EntityRef[]) => void): () => void;
}
