import { notifySocket, type SocketMessage } from '../../../http/sockets.ts';
import { failureOf } from './outcome.ts';
import type { GatewayError } from '../../../kernel/errors.ts';
import { callbackAnswer } from '../connect-page/callback-answer.ts';
import type { Connection } from '../connections/state.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import type { RouteAnswer } from '../../../http/define-route.ts';
import type { ConnectionsServices } from '../services.ts';

type Deps = Pick<ConnectionsServices, 'coordination' | 'vault' | 'logger' | 'settings'>;

/** The subscriber to the outcome, and the connection. */
export interface Waiting {
  readonly socketId: string | null;
  readonly integrationKey: string;
  readonly connectionId: string;
}

/** Notifies the socket and creates the page for the user. */
export async function notifySuccess(
  deps: Deps,
  { socketId, integrationKey, connectionId }: Waiting,
  connection: Connection,
): Promise<RouteAnswer> {
  const config = await openConnectionConfig(deps.vault, connection);
  const isPending = config['pending'] === true;
  await notify(deps, socketId, {
    message_type: 'success',
    provider_config_key: integrationKey,
    connection_id: connectionId,
    is_pending: isPending,
  });
  const published = { providerConfigKey: integrationKey, connectionId, isPending };
  return callbackAnswer({ ok: true, wsClientId: socketId, ...published }, deps);
}

/** Notifies the socket and creates the page for the user. */
export async function showFailure(
  deps: Deps,
  waiting: Waiting,
  error: GatewayError,
): Promise<RouteAnswer> {
  await notifyFailure(deps, waiting, error);
  return failurePage(deps, waiting.socketId, error);
}

export async function notifyFailure(
  deps: Deps,
  { socketId, integrationKey, connectionId }: Waiting,
  error: GatewayError,
): Promise<void> {
  const { errorType, message, logId, providerCode } = failureOf(error);
  await notify(deps, socketId, {
    message_type: 'error',
    provider_config_key: integrationKey,
    connection_id: connectionId,
    error_type: errorType,
    error_desc: message,
    ...(logId === null ? {} : { log_id: logId }),
    ...(providerCode === null ? {} : { provider_error: providerCode }),
  });
}

/** The page for the user, with the status of the error. */
export async function failurePage(
  deps: Pick<ConnectionsServices, 'settings'>,
  socketId: string | null,
  error: GatewayError,
): Promise<RouteAnswer> {
  const outcome = { ok: false, wsClientId: socketId, ...failureOf(error) } as const;
  return { ...(await callbackAnswer(outcome, deps)), status: error.status };
}

/** Errors of the socket are ignored, because the page also reports the outcome. */
async function notify(
  { coordination, logger }: Deps,
  socketId: string | null,
  message: SocketMessage,
): Promise<void> {
  if (socketId === null) return;
  try {
    await notifySocket(coordination, socketId, message);
  } catch (err) {
    logger.warn({ err }, 'a page was not told how its authorization ended');
  }
}
