import type { ControlPlane } from '#control-plane/control-plane.ts';
import { uuidV5 } from '#kernel/ids.ts';
import type { LifecycleFunctions } from '#modules/connections/connections/dependents.ts';
import type { LifecycleEvent } from '#modules/connections/connections/lifecycle-event.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { DeployedFunction } from '../functions/function.ts';
import { listFunctions } from '../functions/queries.ts';
import type { RunsClient } from '../runs/invocation/client.ts';

/** Enabled functions of the connection's integration for the event, in the order in which they run. */
export function functionsOn(
  control: ControlPlane,
  event: LifecycleEvent,
  { environmentUid, integrationKey }: Pick<Connection, 'environmentUid' | 'integrationKey'>,
): DeployedFunction[] {
  const deployed = listFunctions(control, environmentUid, { integrationKey, kind: 'on-event' });
  return deployed.filter((fn) => fn.isEnabled && fn.event === event);
}

export const createLifecycleFunctions = (
  control: ControlPlane,
  runs: Pick<RunsClient, 'runEvent'>,
): LifecycleFunctions => ({
  has: (event, connection) => functionsOn(control, event, connection).length > 0,
  async run(event, { workId, ...scope }) {
    // The caller may disconnect; started functions finish.
    const { signal } = new AbortController();
    for (const fn of functionsOn(control, event, scope.connection)) {
      const runId = workId === undefined ? undefined : uuidV5(workId, `${event}/${fn.name}`);
      await runs.runEvent({ ...scope, event, fn, runId }, signal);
    }
  },
});
