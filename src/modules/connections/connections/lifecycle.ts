import { randomUUID } from 'node:crypto';
import type { RequestOptions } from '#http/options.ts';
import { GatewayError } from '#kernel/errors.ts';
import { deleteConnection, type DeletionDeps } from './deletion.ts';
import type { LifecycleFunctions } from './dependents.ts';
import { connectionRef } from './entity.ts';
import { importConnection, type ConnectionImport } from './handlers.ts';
import type { Connection } from './state.ts';

export interface ConnectDeps extends DeletionDeps {
  readonly lifecycle: LifecycleFunctions;
}

/**
 * Creates the connection, or stores new credentials in an existing one, and runs the functions on `validate-connection`
 * before it is published. If one throws, a new connection is deleted, and an existing one gets an auth error. With the
 * same `workId` each is started once.
 * @throws GatewayError `connection_validation_failed` with the function's message; `run_interrupted`; as
 *   `importConnection`
 */
export async function connectValidated(
  deps: ConnectDeps,
  wanted: ConnectionImport,
  options: RequestOptions,
): Promise<Connection> {
  const event = 'validate-connection';
  const isToBeValidated = deps.lifecycle.has(event, wanted);
  const { connection } = await importConnection(deps, { ...wanted, isToBeValidated }, options);
  if (connection.validating == null) return connection;
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const { actor, workId } = options;
  try {
    await deps.lifecycle.run(event, { connection, actor, workId });
  } catch (error) {
    const refused = refusalOf(error, 'connection_validation_failed');
    if (connection.validating.isNew) await deleteConnection(deps, connection, { actor });
    else await deps.control.execute(ref, { type: 'Refuse', uid, logId: randomUUID() }, { actor });
    throw refused;
  }
  const valid = await deps.control.execute(ref, { type: 'Confirm', uid }, { actor });
  if (valid === null) throw new GatewayError('unknown_connection');
  return valid;
}

/**
 * Runs the functions on `pre-connection-deletion`; the connection is still usable. With the same `workId` each is
 * started once.
 * @throws GatewayError and keeps the connection: `connection_deletion_refused` (424) if one throws, `run_interrupted`
 */
export async function runBeforeDeletion(
  { lifecycle }: { readonly lifecycle: LifecycleFunctions },
  connection: Connection,
  { actor, workId }: Pick<RequestOptions, 'actor' | 'workId'>,
): Promise<void> {
  try {
    await lifecycle.run('pre-connection-deletion', { connection, actor, workId });
  } catch (error) {
    throw refusalOf(error, 'connection_deletion_refused');
  }
}

/**
 * The message of the function, if any: an ActionError's `message`, or its `error`. A crashed process is not a refusal.
 */
function refusalOf(
  error: unknown,
  code: 'connection_validation_failed' | 'connection_deletion_refused',
): unknown {
  if (!(error instanceof GatewayError) || error.code === 'run_interrupted') return error;
  const { payload } = error.details;
  const refusal = (payload ?? {}) as { readonly message?: unknown; readonly error?: unknown };
  const isActionError = error.code === 'action_script_failure';
  const own = [refusal.message, refusal.error].find(
    (text) => typeof text === 'string' && text !== '',
  );
  if (isActionError) {
    const message = own as string | undefined;
    return new GatewayError(code, message === undefined ? {} : { message }, { cause: error });
  }
  return new GatewayError(
    code,
    code === 'connection_validation_failed' ? {} : { message: error.message },
    { cause: error },
  );
}
