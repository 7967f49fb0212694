import type { Checkpoint } from './state.ts';

/** What happens to a checkpoint. */
export type CheckpointEvent =
  | { readonly type: 'CheckpointWritten'; readonly checkpoint: Checkpoint }
  | { readonly type: 'CheckpointDeleted' };
