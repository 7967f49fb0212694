import type { Operation, OperationLogs } from '#ports/operation-log.ts';
import type { Revocation } from './revocation.ts';

/** The operation `auth:revoke_token`; starting it again continues it. */
export function beginOperation(
  { logs }: { readonly logs: OperationLogs },
  {
    uid,
    environmentUid,
    integrationKey,
    connectionId,
  }: Pick<Revocation, 'uid' | 'environmentUid' | 'integrationKey' | 'connectionId'>,
): Operation {
  const operation = {
    operationId: uid,
    operationType: 'auth:revoke_token' as const,
    environmentUid,
    integration: integrationKey,
    connectionId,
  };
  return logs.begin(operation, 'Revoking the access at the provider.');
}
