import type { ControlPlane } from '../../../control-plane/control-plane.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import { findConnection } from '../../connections/connections/queries.ts';
import { createInstancesFor } from './reconcile.ts';
import type { ReactorDeps } from '../../../../streams/reactor/reactor.ts';
import { startReactor } from '../../../../streams/reactor/runner.ts';

const topic = 'svc.connections.v1';

/** The fields used of a value of the topic. */
interface ConnectionChanged {
  readonly action: string;
  readonly environment_id: string;
  readonly integration: string | null;
  readonly connection_id: string | null;
}

/**
 * Makes the syncs of every connection created, also when the node that created it died right after. Together
 * with `reconcileSyncInstances`, of which both look at the log's newest state, none is left out.
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
