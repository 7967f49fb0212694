import type { JsonObject } from '../kernel/stable-json.ts';
import type { EntityKind, EntityRef } from './entity.ts';

export interface AskOptions {
  readonly actor: string;
  /** How long the command may wait for its decision; default 15 s. */
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
}

/** Sends commands to the owners of the control plane and reads this node's view of what they decided. */
export interface ControlPlane {
  /**
   * Resolves with the state after the decision (null = gone), once this node's view has it: a client
   * reads its own writes.
   * @throws GatewayError what the decider refused with; `command_expired`; `log_unavailable`
   */
  ask(ref: EntityRef, body: { readonly type: string } & JsonObject, options: AskOptions): Promise<JsonObject | null>;
  readonly view: ControlView;
}

export interface Found<S> {
  readonly ref: EntityRef;
  readonly state: S;
}

/**
 * The local materialised view of `svc.internal.control.v1` (SQLite). Reads are synchronous and never leave
 * the process; `caughtUp` is asked before answering "unknown".
 */
export interface ControlView {
  find<S>(kind: EntityKind, path: readonly string[]): S | null;
  /** Entities whose path starts with the prefix, in path order. */
  list<S>(kind: EntityKind, prefix: readonly string[]): Found<S>[];
  /** By a field that the kind's definition declares as indexed (see `indexes.ts`), for example a key hash. */
  findBy<S>(kind: EntityKind, index: string, value: string): Found<S> | null;
  listBy<S>(kind: EntityKind, index: string, value: string): Found<S>[];
  /** Resolves when the view has applied what was in the log at the call (shared, at most every 50 ms). */
  caughtUp(): Promise<void>;
  /** Called after each applied batch with what changed. */
  onChange(listener: (changed: readonly EntityRef[]) => void): () => void;
}
