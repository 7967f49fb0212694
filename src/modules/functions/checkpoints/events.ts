import type { Checkpoint } from './state.ts';

/** Events of a checkpoint. */
export type CheckpointEvent =
  | { readonly type: 'CheckpointWritten'; readonly checkpoint: Checkpoint }
  | { readonly type: 'CheckpointDeleted' };
