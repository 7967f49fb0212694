import type { ErrorCode, GatewayError } from '../../../kernel/errors.ts';

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
  unable_to_parse_token_response: 'token_err',
  connection_validation_failed: 'connection_validation_failed',
};

/** A failure as reported to the user and the page, without secrets. */
export interface Failure {
  readonly errorType: string;
  readonly message: string;
  readonly logId: string | null;
  readonly providerCode: string | null;
}

interface FailurePayload {
  readonly log_id?: string;
  readonly provider?: { readonly code?: string | null };
}

/** The failure from the body of an error response. */
export function failureOf(error: GatewayError): Failure {
  const payload = (error.details.payload ?? {}) as FailurePayload;
  return {
    errorType: errorTypes[error.code] ?? 'unknown_err',
    message: error.message,
    logId: payload.log_id ?? null,
    providerCode: payload.provider?.code ?? null,
  };
}
