/** Status and message of a code of the catalog (docs/reference/errors.md). */
interface ErrorKind {
  readonly status: number;
  readonly message: string;
  /** True where the same call may succeed later. */
  readonly isRetryable?: true;
}

/** One validation issue of `error.errors` (docs/reference/errors.md#body). */
export interface Issue {
  readonly code: string;
  readonly message: string;
  readonly path: readonly string[];
}

const retryable = (status: number, message: string): ErrorKind => ({
  status,
  message,
  isRetryable: true,
});
const kind = (status: number, message: string): ErrorKind => ({ status, message });

/** Every error code of the service. Codes are never reused with another meaning. */
export const catalogue = {
  // request
  invalid_json: kind(400, 'The body is not valid JSON.'),
  invalid_body: kind(400, 'The body is not valid.'),
  invalid_query_params: kind(400, 'The query parameters are not valid.'),
  invalid_headers: kind(400, 'The headers are not valid.'),
  invalid_uri_params: kind(400, 'The path is not valid.'),
  invalid_cursor_value: kind(400, 'The cursor is not valid.'),
  invalid_request: kind(400, 'The request is not valid.'),
  missing_provider_config_key: kind(400, 'The header Provider-Config-Key is missing.'),
  missing_connection_id: kind(400, 'The header Connection-Id is missing.'),
  missing_api_url: kind(400, 'The provider has no usable base URL for this connection.'),
  url_not_allowed: kind(400, 'Requests to this address are not allowed.'),
  too_many_redirects: kind(400, 'The provider redirected the request more than five times.'),
  // state
  unknown_provider: kind(400, 'The provider does not exist.'),
  unsupported_provider: kind(400, 'The provider has no base URL.'),
  unsupported_auth: kind(400, 'The authentication mode is not supported.'),
  unknown_provider_config: kind(404, 'The integration does not exist.'),
  unknown_connection: kind(404, 'The connection does not exist.'),
  unknown_sync: kind(400, 'The sync does not exist.'),
  no_syncs_found: kind(400, 'No sync matches the request.'),
  invalid_variant: kind(400, 'The variant base always exists and cannot be created or deleted.'),
  sync_variant_already_exists: kind(400, 'The sync already has a variant of this name.'),
  sync_interval_too_short: kind(400, 'A sync cannot run more often than every 30 seconds.'),
  sync_interval_invalid: kind(400, 'The frequency is not valid.'),
  cannot_delete_prod_environment: kind(400, 'The production environment cannot be deleted.'),
  invalid_is_prod_flag: kind(400, 'The environment prod is always a production environment.'),
  resource_capped: kind(400, 'The limit for this resource is reached.'),
  function_disabled: kind(403, 'The function is disabled.'),
  disabled_resource: kind(404, 'The function is disabled.'),
  // credentials and auth flows
  invalid_auth_mode: kind(400, 'The provider uses another authentication mode.'),
  invalid_credentials: kind(400, 'The credentials are not valid.'),
  connection_test_failed: kind(400, 'The provider refused the credentials.'),
  connection_validation_failed: kind(400, 'A validation function refused the connection.'),
  connection_deletion_refused: kind(424, 'A function refused the deletion of the connection.'),
  wrong_auth_mode: kind(400, 'The app was not installed.'),
  invalid_state: kind(400, 'This sign-in has expired or was already used. Start again.'),
  missing_state_cookie: kind(
    400,
    'The callback arrived in another browser than the one that started the sign-in.',
  ),
  invalid_callback: kind(400, 'The provider returned no authorization.'),
  integration_not_allowed: kind(400, 'The connect session does not allow this integration.'),
  invalid_connection: kind(400, 'The connection to reauthorize no longer exists.'),
  missing_client_id: kind(400, 'client_id is missing.'),
  missing_client_secret: kind(400, 'client_secret is missing.'),
  missing_client_private_key: kind(400, 'client_private_key is missing.'),
  invalid_certificate_or_key_format: kind(400, 'The certificate or its key is not valid PEM.'),
  client_credentials_fetch_error: kind(
    400,
    'The provider issued no token for these client credentials.',
  ),
  two_step_credentials_fetch_error: kind(
    400,
    'The provider issued no token for these credentials.',
  ),
  refresh_token_external_error: kind(400, 'The provider did not refresh the token.'),
  authorization_server_unknown: kind(
    400,
    'The MCP server names no authorization server that can be used.',
  ),
  client_registration_refused: kind(
    400,
    'The authorization server of the MCP server registers no client.',
  ),
  request_token_external_error: kind(400, 'The provider issued no request token.'),
  unable_to_parse_token_response: kind(400, 'The response of the provider contains no token.'),
  unknown_provider_template: kind(404, 'The provider is no longer in the catalog.'),
  connection_refresh_backoff: retryable(
    424,
    'The last token refresh failed; the next attempt follows after 30 seconds.',
  ),
  connection_refresh_exhausted: kind(424, 'The token refresh has failed for days.'),
  // functions
  invalid_cli_version: kind(400, 'The version of the CLI is not compatible with this service.'),
  compilation_error: kind(400, 'The function does not compile.'),
  integration_not_found: kind(400, 'The integration does not exist.'),
  invalid_action_input: kind(400, 'The input does not match the schema of the action.'),
  invalid_action_output: kind(400, 'The output does not match the schema of the action.'),
  invalid_sync_record: kind(400, 'A record is not valid.'),
  invalid_checkpoint: kind(
    400,
    'The checkpoint is not a flat object of strings, numbers and booleans.',
  ),
  invalid_metadata: kind(400, 'The metadata does not match the schema of the function.'),
  checkpoint_conflict: kind(409, 'Another writer changed the checkpoint.'),
  script_output_too_large: kind(424, 'The output is larger than 2 MB.'),
  missing_required_fields_on_deploy: kind(400, 'A deployed function lacks a required field.'),
  deploy_missing_json_schema_model: kind(400, 'A model has no JSON schema in the deployment.'),
  deploy_script_security_rejected: kind(
    400,
    'The function uses a feature that the sandbox does not allow.',
  ),
  concurrent_deployment: retryable(409, 'Another deployment is in progress.'),
  ambiguous_function: kind(409, 'Several functions have this name.'),
  function_managed_by_deploy: kind(400, 'The function belongs to a deployed project.'),
  timeout: kind(504, 'The request timed out.'),
  action_script_failure: kind(424, 'The action ended with an ActionError.'),
  action_script_runtime_error: kind(424, 'The function failed.'),
  script_http_error: kind(424, 'The provider returned an error to the function.'),
  script_network_error: kind(424, 'The function could not reach the provider.'),
  script_internal_error: kind(424, 'The function threw an error.'),
  script_aborted: kind(410, 'The run was cancelled.'),
  execution_timeout: kind(504, 'The function exceeded its time limit.'),
  function_runtime_out_of_memory: kind(424, 'The function ran out of memory.'),
  function_runtime_other: kind(424, 'The function ended unexpectedly.'),
  execution_environment_unavailable: retryable(503, 'No runner is free to run the function.'),
  run_interrupted: retryable(503, 'The run was interrupted.'),
  // records
  record_too_large: kind(413, 'A record is larger than 1 MB.'),
  unknown_model: kind(400, 'The model is not declared by the sync.'),
  delete_pass_missing: kind(400, 'No track deletes starting point was found.'),
  stale_attempt: kind(409, 'A later attempt of this run has replaced this one.'),
  stream_closed: kind(409, 'The connection of these records was deleted.'),
  command_dead_lettered: kind(
    500,
    'A saved batch could not be processed and was parked as a dead letter.',
  ),
  // webhooks of providers
  webhook_missing_signature: kind(401, 'The webhook is not signed.'),
  webhook_invalid_signature: kind(401, 'The signature of the webhook is not valid.'),
  webhook_missing_token: kind(401, 'The webhook has no token.'),
  webhook_missing_secret: kind(401, 'No secret is configured to verify the webhook.'),
  webhook_missing_connection_id: kind(400, 'The webhook does not name its connection.'),
  webhook_invalid_payload: kind(400, 'The body of the webhook is not valid.'),
  webhook_no_connection_or_existing_installation_id: kind(
    400,
    'No connection waits for this installation, or the webhook does not name the installation.',
  ),
  webhook_unknown_provider: kind(400, 'The provider definition has no rules for webhooks.'),
  // authentication
  missing_auth_header: kind(401, 'The header Authorization is missing.'),
  malformed_auth_header: kind(401, 'The Authorization header must be "Bearer <key>".'),
  invalid_secret_key_format: kind(401, 'The key does not have the form of an API key.'),
  unknown_account: kind(401, 'The API key does not exist.'),
  expired_api_key: kind(401, 'The API key has expired.'),
  invalid_connect_session_token_format: kind(
    401,
    'The token does not have the form of a connect session token.',
  ),
  unknown_connect_session_token: kind(401, 'The connect session has expired or does not exist.'),
  unknown_console_session: kind(
    401,
    'The console session has ended, or does not hold this key any more.',
  ),
  unknown_console_code: kind(401, 'The code has expired, was used before, or does not exist.'),
  person_deactivated: kind(403, 'Your access to this installation was ended.'),
  no_role: kind(403, 'You have no role in this installation.'),
  sign_in_refused: kind(403, 'The sign-in was refused.'),
  sign_in_expired: kind(
    400,
    'The sign-in has expired, was finished before, or began in another browser.',
  ),
  sign_in_failed: kind(400, 'The identity provider did not confirm the sign-in.'),
  identity_provider_unavailable: kind(424, 'The identity provider does not answer.'),
  missing_public_key: kind(401, 'The query parameter connect_session_token is missing.'),
  deprecated_authentication: kind(401, 'Public keys are no longer accepted.'),
  invalid_csrf_token: kind(403, 'The header Svc-Csrf-Token is missing or wrong.'),
  foreign_origin: kind(403, 'Only a page of this service may send this request.'),
  forbidden: kind(403, 'The key does not allow this request.'),
  // resources
  not_found: kind(404, 'Not found.'),
  unknown_environment: kind(404, 'The environment does not exist.'),
  template_not_found: kind(404, 'The provider has no such template.'),
  dryrun_not_found: kind(404, 'The dry run does not exist.'),
  deployment_not_found: kind(404, 'The deployment does not exist.'),
  connection_not_found: kind(404, 'The connection does not exist.'),
  method_not_allowed: kind(405, 'The path does not support this method.'),
  conflict: kind(409, 'The resource already exists or was changed concurrently.'),
  multiple_webhook_signing_keys: kind(409, 'The previous signing key is still valid.'),
  endpoint_removed: kind(410, 'This endpoint was removed.'),
  request_too_large: kind(413, 'The request body is too large.'),
  invalid_content_type: kind(415, 'The Content-Type is not application/json.'),
  provider_limit_reached: retryable(429, 'The limit of requests to the provider is reached.'),
  too_many_request: retryable(429, 'Too many requests.'),
  idempotency_conflict: kind(409, 'This Idempotency-Key was already used with another request.'),
  root_key_missing: retryable(503, 'The root key of this secret is not configured on this node.'),
  // queries
  sql_refused: kind(400, 'The query may not run.'),
  sql_failed: kind(400, 'The query cannot run.'),
  sql_limit: kind(400, 'The query has reached a limit.'),
  // operators
  consumer_not_resettable: kind(
    409,
    'The position of this consumer group cannot be reset in this way.',
  ),
  reset_skips_messages: kind(409, 'The reset would skip unprocessed messages.'),
  // the log and its readers
  writer_fenced: retryable(503, 'Another writer took over.'),
  log_unavailable: retryable(503, 'The event log did not acknowledge in time.'),
  log_full: retryable(503, 'The disk of the event log is full.'),
  read_only: retryable(503, 'This process only reads: SVC_READ_ONLY is set.'),
  log_incomplete: kind(500, 'The event log lacks acknowledged messages.'),
  log_corrupt: kind(500, 'The event log is corrupt.'),
  unknown_topic: kind(500, 'The topic does not exist.'),
  history_gone: kind(410, 'The log no longer contains changes of this time.'),
  projection_unavailable: retryable(503, 'The records are temporarily unavailable.'),
  projection_damaged: retryable(503, 'A table that the request reads is damaged.'),
  projection_refused: kind(500, 'The projection store refused the rows.'),
  command_expired: retryable(503, 'The command was not decided before its deadline.'),
  coordination_unavailable: retryable(
    503,
    'The coordination between the nodes is temporarily unavailable.',
  ),
  registry_unavailable: retryable(503, 'The schema registry is temporarily unavailable.'),
  incompatible_schema: kind(500, 'The schema is not compatible with readers of the topic.'),
  server_error: kind(500, 'An internal error occurred.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof catalogue;

export interface ErrorDetails {
  /** Replaces the catalog's sentence; names the thing and how to fix it. */
  readonly message?: string;
  /** Replaces the sentence of `errorHints`. */
  readonly fix?: string;
  readonly errors?: readonly Issue[];
  readonly payload?: unknown;
  /** The provider's response, besides `payload` (docs/reference/errors.md#body). */
  readonly upstream?: unknown;
  /** The run that failed. */
  readonly runId?: string;
  /** Where and why its code failed, in the format of the API (docs/reference/functions.md#failures). */
  readonly failure?: unknown;
  /** Overrides the catalog's status (docs/reference/errors.md#codes-with-other-statuses). */
  readonly status?: number;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number;
}

/** The only error that crosses a module's boundary. Anything else is a bug and is answered with a bare 500. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: ErrorOptions) {
    super(details.message ?? catalogue[code].message, options);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return this.details.status ?? catalogue[this.code].status;
  }

  /** Form for another thread, topic or process, without its cause; `GatewayError.from` rebuilds it. */
  toJSON(): { code: ErrorCode; details: ErrorDetails } {
    return { code: this.code, details: this.details };
  }

  static from(
    json: { code: string; details?: ErrorDetails },
    options?: ErrorOptions,
  ): GatewayError {
    const code = json.code in catalogue ? (json.code as ErrorCode) : 'server_error';
    return new GatewayError(code, json.details, options);
  }
}

/** A temporary failure of something that is needed: the same call may succeed later. */
export const isOutage = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && 'isRetryable' in catalogue[error.code];

/** Messages that were acknowledged are not in the log. */
export const isLogIncomplete = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'log_incomplete';
