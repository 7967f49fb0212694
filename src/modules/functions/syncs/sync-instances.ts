import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { ConnectionChanged } from '#streams/values.ts';
import { createInstancesFor } from './reconcile.ts';

const topic = 'svc.connections.v1';

/**
 * Creates the syncs of every new connection, also when the node that created it crashed right after.
 * `reconcileSyncInstances` reads the same newest state of the log, so that together they miss no connection.
 */
export async function startSyncInstances(
  deps: ReactorDeps & { readonly control: ControlPlane },
): Promise<AsyncDisposable> {
  return startReactor<ConnectionChanged>(deps, {
    group: 'svc.sync-instances',
    topic,
    async handle(change) {
      if (change.action !== 'created') return;
      await deps.control.view.caughtUp();
      const { environment_id, integration, connection_id } = change;
      const where = [deps.control, environment_id, integration ?? ''] as const;
      const connection = findConnection(...where, connection_id ?? '');
      if (connection === null) return;
      try {
        await createInstancesFor(deps.control, connection, 'system');
      } catch (error) {
        const isGone = error instanceof GatewayError && error.code === 'unknown_connection';
        if (!isGone) throw error;
      }
    },
  });
}
