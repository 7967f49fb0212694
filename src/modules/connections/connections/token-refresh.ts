import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { CredentialsChanged } from '#streams/values.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import { verifyCredentials } from '../providers/verify.ts';
import { decryptForCall } from './decrypt-for-call.ts';
import { connectionRef, type ConnectionEntity } from './entity.ts';
import { findConnection } from './queries.ts';
import type { Refresher } from './refresher.ts';
import type { Connection } from './state.ts';

interface VerifyCredentialsDeps extends SealedEntities {
  readonly providers: ProviderCatalogue;
  readonly refresher: Refresher;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly logs: OperationLogs;
}

const actor = 'system';

/**
 * Tries credentials that never expire on the provider, and says what came of it: refused, they are an `auth` error
 * of the connection; taken, an earlier one is over. A provider that is away says nothing of them.
 * @throws GatewayError `unknown_connection`, or why the provider cannot be asked
 */
export async function reverifyCredentials(
  deps: VerifyCredentialsDeps,
  existing: Connection,
): Promise<void> {
  const { environmentUid, integrationKey, connectionId, uid, credentialsVersion } = existing;
  const opened = await decryptForCall(deps, existing);
  const refusedWith = await refusalOf(() =>
    verifyCredentials(deps, opened.provider, opened.connection, opened.integration),
  );
  if (refusedWith === 'unknown') return;
  const refusal = refusedWith === null ? null : { ...refusedWith, logId: randomUUID() };
  if (refusal !== null) {
    const operationFields = {
      operationId: refusal.logId,
      operationType: 'auth:connection_test' as const,
    };
    const where = { environmentUid, integration: integrationKey, connectionId };
    const operation = deps.logs.begin(
      { ...operationFields, ...where },
      'Trying the stored credentials.',
    );
    operation.end('failed', refusal.message);
  }
  const refused =
    refusal === null ? null : { logId: refusal.logId, providerStatus: refusal.status };
  const body: CommandOf<ConnectionEntity> = {
    type: 'Tested',
    uid,
    ifVersion: credentialsVersion,
    refusal: refused,
  };
  await deps.control.execute(connectionRef(environmentUid, integrationKey, connectionId), body, {
    actor,
  });
}

/** Null: the provider took them; `unknown`: it was away, or had no time. */
async function refusalOf(
  test: () => Promise<void>,
): Promise<{ readonly status: number; readonly message: string } | 'unknown' | null> {
  try {
    await test();
    return null;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'connection_test_failed') throw error;
    const { provider } = error.details.payload as { readonly provider: { status: number | null } };
    const { status } = provider;
    const isPassing = status === null || status === 408 || status === 429 || status >= 500;
    return isPassing ? 'unknown' : { status, message: error.message };
  }
}

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
