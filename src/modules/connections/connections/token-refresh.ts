import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { CredentialsChanged } from '#streams/values.ts';
import { findConnection } from './queries.ts';
import type { Refresher } from './refresher.ts';
import type { Connection } from './state.ts';

const topic = 'svc.credentials.v1';
/** Refreshes of one partition at once: providers are not to be flooded when many come due together. */
const atOnceMax = 8;

interface TokenRefreshDeps extends ReactorDeps {
  readonly control: ControlPlane;
  readonly refresher: Refresher;
  /** Tries credentials that never expire on the provider. */
  readonly retest: (connection: Connection) => Promise<void>;
}

/**
 * Refreshes what the owner of the connection says nobody has fetched for a day, or tries it where it never expires:
 * consumer group `svc.token-refreshes`, so that one process does it. A refresh that fails is said in the connection, and
 * asked for again the next day.
 */
export async function startTokenRefreshes(deps: TokenRefreshDeps): Promise<AsyncDisposable> {
  const { control, refresher, retest, logger } = deps;
  return startReactor<CredentialsChanged>(deps, {
    group: 'svc.token-refreshes',
    topic,
    inFlightMax: atOnceMax,
    async handle(change) {
      if (change.action !== 'refresh_due') return;
      await control.view.caughtUp();
      const { environment_id: uid, integration, connection_id: id } = change;
      const connection = findConnection(control, uid, integration ?? '', id ?? '');
      if (connection?.uid !== change.connection_uid) return;
      try {
        await (connection.isTested === true ? retest(connection) : refresher.fresh(connection));
      } catch (error) {
        const isSaid = error instanceof GatewayError && error.status < 500;
        if (!isSaid) throw error;
        logger.debug({ err: error, connectionUid: connection.uid }, 'an unused connection stays');
      }
    },
  });
}
