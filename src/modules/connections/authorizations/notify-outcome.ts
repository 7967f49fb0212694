import type { RouteAnswer } from '#http/define-route.ts';
import { notifySocket, type SocketMessage } from '#http/sockets.ts';
import type { GatewayError, ErrorCode } from '#kernel/errors.ts';
import type { AddressSettings, SharedValues } from '#modules/access/services.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { FailedOutcome } from '../connect-page/browser/callback-outcome.ts';
import { callbackAnswer } from '../connect-page/document.ts';
import type { Connection } from '../connections/state.ts';
import { openConnectionConfig } from '../credentials/sealing.ts';

interface Deps extends SharedValues {
  readonly vault: Vault;
  readonly settings: AddressSettings;
}

/** The subscriber to the outcome, and the connection. */
interface OutcomeSubscriber {
  readonly socketId: string | null;
  readonly integrationKey: string;
  readonly connectionId: string;
}

/** Notifies the socket and creates the page for the user. */
export async function notifySuccess(
  deps: Deps,
  { socketId, integrationKey, connectionId }: OutcomeSubscriber,
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
  const payload = { providerConfigKey: integrationKey, connectionId, isPending };
  return callbackAnswer({ ok: true, wsClientId: socketId, ...payload }, deps);
}

/** Notifies the socket and creates the page for the user. */
export async function showFailure(
  deps: Deps,
  waiting: OutcomeSubscriber,
  error: GatewayError,
): Promise<RouteAnswer> {
  await notifyFailure(deps, waiting, error);
  return failurePage(deps, waiting.socketId, error);
}

export async function notifyFailure(
  deps: Deps,
  { socketId, integrationKey, connectionId }: OutcomeSubscriber,
  error: GatewayError,
): Promise<void> {
  const { errorType, message, logId, providerCode, providerDescription, reason, fix } =
    outcomeFailure(error);
  await notify(deps, socketId, {
    message_type: 'error',
    provider_config_key: integrationKey,
    connection_id: connectionId,
    error_type: errorType,
    error_desc: message,
    ...(logId === null ? {} : { log_id: logId }),
    ...(providerCode === null ? {} : { provider_error: providerCode }),
    ...(providerDescription === null ? {} : { provider_error_description: providerDescription }),
    ...(reason === null ? {} : { reason }),
    ...(fix === null ? {} : { fix }),
  });
}

/** The page for the user, with the status of the error. */
export async function failurePage(
  deps: { readonly settings: AddressSettings },
  socketId: string | null,
  error: GatewayError,
): Promise<RouteAnswer> {
  const outcome = { ok: false, wsClientId: socketId, ...outcomeFailure(error) } as const;
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

/** Names of failures on the WebSocket and in the browser (docs/reference/http.md#sign-in-by-redirect). */
const errorTypes: Partial<Record<ErrorCode, string>> = {
  invalid_auth_mode: 'auth_mode_err',
  unknown_provider_config: 'unknown_config_key',
  unknown_provider_template: 'provider_config_err',
  integration_not_allowed: 'provider_config_err',
  invalid_query_params: 'url_param_err',
  invalid_state: 'state_err',
  missing_state_cookie: 'state_cookie_err',
  invalid_callback: 'callback_err',
  wrong_auth_mode: 'callback_err',
  refresh_token_external_error: 'token_err',
  request_token_external_error: 'token_err',
  authorization_server_unknown: 'provider_config_err',
  client_registration_refused: 'provider_config_err',
  unable_to_parse_token_response: 'token_err',
  connection_validation_failed: 'connection_validation_failed',
};

interface FailurePayload {
  readonly log_id?: string;
  readonly provider?: {
    readonly code?: string | null;
    readonly description?: string | null;
    readonly reason?: string;
  };
}

/** A failure as reported to the user and the page, without secrets: from the body of an error response. */
function outcomeFailure(error: GatewayError): FailedOutcome {
  const payload = (error.details.payload ?? {}) as FailurePayload;
  return {
    errorType: errorTypes[error.code] ?? 'unknown_err',
    message: error.message,
    logId: payload.log_id ?? null,
    providerCode: payload.provider?.code ?? null,
    providerDescription: payload.provider?.description ?? null,
    reason: payload.provider?.reason ?? null,
    fix: error.details.fix ?? null,
  };
}
