import type { Services } from '../../http/services.ts';
import { tellSocket, type SocketMessage } from '../../http/sockets.ts';
import { failureOf } from './outcome.ts';
import type { GatewayError } from '../../kernel/errors.ts';
import type { Connection } from '../connections/state.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';
import type { RouteAnswer } from '../../http/define-route.ts';
import { resultPage } from './result-page.ts';

type Deps = Pick<Services, 'coordination' | 'vault' | 'logger'>;

/** Who waits for the outcome, and of which connection. */
export interface Waiting {
  readonly socketId: string | null;
  readonly integrationKey: string;
  readonly connectionId: string;
}

/** Tells the socket and makes the page that the person sees. */
export async function showSuccess(
  deps: Deps,
  { socketId, integrationKey, connectionId }: Waiting,
  connection: Connection,
): Promise<RouteAnswer> {
  const config = await openConnectionConfig(deps.vault, connection);
  const isPending = config['pending'] === true;
  await tell(deps, socketId, {
    message_type: 'success',
    provider_config_key: integrationKey,
    connection_id: connectionId,
    is_pending: isPending,
  });
  return resultPage({
    ok: true,
    wsClientId: socketId,
    providerConfigKey: integrationKey,
    connectionId,
    isPending,
  });
}

/** Tells the socket and makes the page that the person sees. */
export async function showFailure(
  deps: Deps,
  { socketId, integrationKey, connectionId }: Waiting,
  error: GatewayError,
): Promise<RouteAnswer> {
  const failure = failureOf(error);
  const { errorType, message, logId, providerCode } = failure;
  await tell(deps, socketId, {
    message_type: 'error',
    provider_config_key: integrationKey,
    connection_id: connectionId,
    error_type: errorType,
    error_desc: message,
    ...(logId === null ? {} : { log_id: logId }),
    ...(providerCode === null ? {} : { provider_error: providerCode }),
  });
  return resultPage({ ok: false, status: error.status, wsClientId: socketId, ...failure });
}

/** The page tells by itself as well: a socket that cannot be reached changes nothing of the outcome. */
async function tell(
  { coordination, logger }: Deps,
  socketId: string | null,
  message: SocketMessage,
): Promise<void> {
  if (socketId === null) return;
  try {
    await tellSocket(coordination, socketId, message);
  } catch (err) {
    logger.warn({ err }, 'a page was not told how its authorization ended');
  }
}
