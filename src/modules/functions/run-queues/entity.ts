import { commandTo, type EntityDefinition } from '#control-plane/entity.ts';
import { actionRunRef } from '../actions/entity.ts';
import type { RunQueueEntity } from './ref.ts';
import { runQueue } from './run-queue.ts';

/** The entity of queues of runs (`run-queue`). */
export const runQueueEntity: EntityDefinition<RunQueueEntity> = {
  kind: 'run-queue',
  decider: runQueue,
  publish: () => [],

  follow(event, _before, _after, { path }) {
    // A run that enters and need not wait was queued as such.
    if (event.type !== 'RunAdmitted') return [];
    const [environmentUid = '', integrationKey = '', connectionId = ''] = path;
    const run = { environmentUid, integrationKey, connectionId, runId: event.runId };
    return [commandTo(actionRunRef(run), { type: 'Admit' })];
  },
};
