import type { ControlPlane } from '#control-plane/control-plane.ts';
import { uuidV5 } from '#kernel/ids.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import type {
  LifecycleFunctions,
  LifecycleEvent,
} from '#modules/connections/connections/dependents.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { ConnectionChanged } from '#streams/values.ts';
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

const topic = 'svc.connections.v1';
const event = 'post-connection-creation';
/** Maximum age of a connection: a new group on an old log runs nothing for older ones. */
const newsMs = dayMs;

interface LifecycleHooksDeps extends ReactorDeps {
  readonly control: ControlPlane;
  readonly runs: RunsClient;
  readonly clock: Clock;
}

/**
 * Runs the functions on `post-connection-creation` of every connection created, sequentially: consumer group
 * `svc.lifecycle-hooks`. A failure is logged and does not block others. The id of a run is derived from the event, so
 * that each runs once.
 */
export async function startLifecycleHooks(deps: LifecycleHooksDeps): Promise<AsyncDisposable> {
  const { control, runs, clock } = deps;
  return startReactor<ConnectionChanged>(deps, {
    group: 'svc.lifecycle-hooks',
    topic,
    async handle(change, { message }, signal) {
      if (change.action !== 'created' || clock.now() - message.timestamp > newsMs) return;
      await control.view.caughtUp();
      const { environment_id: uid, integration, connection_id: id, event_id } = change;
      const find = () => {
        const found = findConnection(control, uid, integration ?? '', id ?? '');
        return found?.uid === change.connection_uid ? found : null;
      };
      const connection = find();
      if (connection === null) return;
      for (const fn of functionsOn(control, event, connection)) {
        // Deleted by the previous function, or concurrently.
        if (find() === null) return;
        const runId = uuidV5(event_id, fn.name);
        await runs.runEventOnce({ connection, fn, event, actor: 'system' }, runId, signal);
      }
    },
  });
}
