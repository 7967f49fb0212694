import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { CalledKind } from '../actions/state.ts';

/** Scope = that of the connection; path [...connection path, kind of run, function]. */
export interface Checkpoint {
  readonly connectionUid: string;
  readonly kind: CalledKind;
  readonly functionName: string;
  /** Null when deleted: the version continues. */
  readonly value: JsonObject | null;
  /** Grows with each write. */
  readonly version: number;
}

/** Events of a checkpoint. */
export type CheckpointEvent =
  | { readonly type: 'CheckpointWritten'; readonly checkpoint: Checkpoint }
  | { readonly type: 'CheckpointDeleted' };

export type CheckpointCommand = { readonly at: Instant } & (
  | ({
      /** A null value deletes it. `version` is the one that the writer has read; 0 = none. */
      readonly type: 'Write';
    } & Checkpoint)
  | { readonly type: 'Delete' }
);

/** Optimistic concurrency: a write based on an outdated version is refused. */
export const checkpoint: Decider<Checkpoint | null, CheckpointCommand, CheckpointEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Delete') return state === null ? [] : [{ type: 'CheckpointDeleted' }];
    const { connectionUid, kind, functionName, value, version } = command;
    const existing = state?.connectionUid === connectionUid ? state.version : 0;
    if (version !== existing) throw new GatewayError('checkpoint_conflict');
    const written = { connectionUid, kind, functionName, value, version: version + 1 };
    return [{ type: 'CheckpointWritten', checkpoint: written }];
  },

  evolve: (_state, event) => (event.type === 'CheckpointWritten' ? event.checkpoint : null),
};
