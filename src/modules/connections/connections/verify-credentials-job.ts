import { randomUUID } from 'node:crypto';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { verifyCredentials } from '../providers/verify.ts';
import type { ConnectionsServices } from '../services.ts';
import { decryptForCall } from './decrypt-for-call.ts';
import { connectionRef, type ConnectionEntity } from './entity.ts';
import type { Connection } from './state.ts';

export type VerifyCredentialsDeps = Pick<
  ConnectionsServices,
  'control' | 'vault' | 'providers' | 'refresher' | 'http' | 'clock' | 'logs'
>;

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
    const operationFields = { operationId: refusal.logId, operationType: 'auth:connection_test' };
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
