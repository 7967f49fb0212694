import type { EntityPath, EntityRef } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import type { ConnectionPath } from '#modules/connections/connections/entity.ts';
import type { RunQueue, RunQueueCommand, RunQueueEvent } from './run-queue.ts';

export interface RunQueueEntity {
  readonly kind: 'run-queue';
  readonly state: RunQueue;
  readonly command: RunQueueCommand;
  readonly event: RunQueueEvent;
}

/** What a view finds the queue by that runs of the kind and function wait in. */
export const runQueuePath = (
  connection: ConnectionPath,
  runs: { readonly kind: string; readonly name: string },
): EntityPath<RunQueueEntity> => ({
  kind: 'run-queue',
  path: [...connection, runs.kind, runs.name],
});

export const runQueueRef = (
  connection: ConnectionPath,
  runs: { readonly kind: string; readonly name: string },
): EntityRef<RunQueueEntity> => ({
  ...runQueuePath(connection, runs),
  scope: joinKey(...connection),
});
