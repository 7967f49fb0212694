import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { Operation, OperationLogs } from '#ports/operation-log.ts';
import { ProviderAuthError } from '../credentials/modes/provider-auth-error.ts';
import type { Authorization } from './authorization.ts';

interface Deps {
  readonly logs: OperationLogs;
  readonly logger: Logger;
}
type AuthorizationIdentity = Pick<
  Authorization,
  'id' | 'environmentUid' | 'integrationKey' | 'connectionId'
>;

/** The operation `auth:create_connection` of an authorization; starting it again continues it. */
export function beginOperation(
  { logs }: Deps,
  authorization: AuthorizationIdentity,
  message: string,
): Operation {
  const { id, environmentUid, integrationKey: integration, connectionId } = authorization;
  const operationType = 'auth:create_connection';
  return logs.begin(
    { operationId: id, operationType, environmentUid, integration, connectionId },
    message,
  );
}

/**
 * Runs the work as one operation of the log that users read. An error contains the operation's id and, if the provider
 * responded, its status and code: `payload: {log_id, provider?: {status, code, …}}`.
 * @throws GatewayError
 */
export async function logged<T>(
  deps: Deps,
  authorization: AuthorizationIdentity,
  task: () => Promise<T>,
  { isEndedLater = false } = {},
): Promise<T> {
  const operation = beginOperation(deps, authorization, 'Authorizing a connection.');
  try {
    const result = await task();
    if (!isEndedLater) operation.end('success', 'The connection is authorized.');
    return result;
  } catch (error) {
    const shownError = toldOf(error, authorization.id);
    if (shownError.status >= 500)
      deps.logger.error({ err: error, logId: authorization.id }, 'authorization failed');
    const { fix } = shownError.details;
    if (fix !== undefined) operation.write('warn', `What to do: ${fix}`);
    operation.end('failed', shownError.message);
    throw shownError;
  }
}

function toldOf(error: unknown, logId: string): GatewayError {
  if (error instanceof ProviderAuthError) {
    const { code, message, providerStatus: status, providerCode } = error.failure;
    const { providerError, refusal } = error.failure;
    const reason = refusal === undefined ? {} : { reason: refusal.reason };
    const provider = { status, ...providerError, code: providerCode, ...reason };
    const payload = { log_id: logId, provider };
    const fix = refusal === undefined ? {} : { fix: refusal.fix };
    return new GatewayError(code, { message, ...fix, payload }, { cause: error });
  }
  if (!(error instanceof GatewayError)) {
    return new GatewayError('server_error', { payload: { log_id: logId } }, { cause: error });
  }
  const payload = { ...(error.details.payload ?? {}), log_id: logId };
  const details = { ...error.details, payload };
  return new GatewayError(error.code, details, { cause: error });
}
