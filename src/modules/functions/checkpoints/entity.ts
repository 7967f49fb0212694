import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import type { ConnectionPath } from '#modules/connections/connections/entity.ts';
import {
  checkpoint,
  type CheckpointCommand,
  type CheckpointEvent,
  type Checkpoint,
} from './checkpoint.ts';

export interface CheckpointEntity {
  readonly kind: 'checkpoint';
  readonly state: Checkpoint;
  readonly command: CheckpointCommand;
  readonly event: CheckpointEvent;
}

export function checkpointRef(
  connection: ConnectionPath,
  ref: Pick<Checkpoint, 'kind' | 'functionName'>,
): EntityRef<CheckpointEntity> {
  const path = [...connection, ref.kind, ref.functionName];
  return { kind: 'checkpoint', scope: joinKey(...connection), path };
}

/** The entity of checkpoints of invoked runs. */
export const checkpointEntity: EntityDefinition<CheckpointEntity> = {
  kind: 'checkpoint',
  decider: checkpoint,
  publish: () => [],
};
