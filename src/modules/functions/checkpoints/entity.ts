import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import { checkpoint, type CheckpointCommand } from './decider.ts';
import type { CheckpointEvent } from './events.ts';
import type { Checkpoint } from './state.ts';

export function checkpointRef(
  connection: readonly [string, string, string],
  ref: Pick<Checkpoint, 'kind' | 'functionName'>,
): EntityRef {
  const path = [...connection, ref.kind, ref.functionName];
  return { kind: 'checkpoint', scope: joinKey(...connection), path };
}

/** The entity of checkpoints of invoked runs. */
export const checkpointEntity: EntityDefinition<Checkpoint, CheckpointCommand, CheckpointEvent> = {
  kind: 'checkpoint',
  decider: checkpoint,
  publish: () => [],
};
