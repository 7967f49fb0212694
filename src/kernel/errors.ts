/** What a code of the catalogue means on the wire (docs/reference/errors.md). */
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

/** Every code this service answers. Codes are never reused with another meaning. */
export const catalogue = {
  // request
  invalid_json: kind(400, 'The body is not valid JSON.'),
  invalid_body: kind(400, 'The body is not valid.'),
  invalid_query_params: kind(400, 'The query parameters are not valid.'),
  invalid_headers: kind(400, 'The headers are not valid.'),
  invalid_uri_params: kind(400, 'The path is not valid.'),
  invalid_cursor_value: kind(400, 'The cursor was not made by this API.'),
  invalid_request: kind(400, 'The request is not valid.'),
  missing_provider_config_key: kind(400, 'Name the integration with Provider-Config-Key.'),
  missing_connection_id: kind(400, 'Name the connection with Connection-Id.'),
  missing_api_url: kind(400, 'The provider has no usable base URL for this connection.'),
  url_not_allowed: kind(400, 'This address may not be reached from here.'),
  too_many_redirects: kind(400, 'The answer redirected more than five times.'),
  // state
  unknown_provider: kind(400, 'No such provider.'),
  unsupported_provider: kind(400, 'The provider has no base URL.'),
  unsupported_auth: kind(400, 'The authentication mode is not supported here.'),
  unknown_provider_config: kind(404, 'No such integration.'),
  unknown_connection: kind(404, 'No such connection.'),
  unknown_sync: kind(400, 'No such sync.'),
  no_syncs_found: kind(400, 'No sync matches.'),
  invalid_variant: kind(400, 'The variant base always exists and cannot be made or removed.'),
  sync_variant_already_exists: kind(400, 'The sync has a variant of this name.'),
  sync_interval_too_short: kind(400, 'A sync cannot run more often than every 30 seconds.'),
  sync_interval_invalid: kind(400, 'The frequency cannot be read.'),
  cannot_delete_prod_environment: kind(400, 'The production environment cannot be deleted.'),
  invalid_is_prod_flag: kind(400, 'The environment prod is always a production environment.'),
  resource_capped: kind(400, 'The limit for this resource is reached.'),
  function_disabled: kind(403, 'The function is disabled.'),
  disabled_resource: kind(404, 'The function is disabled.'),
  // credentials and auth flows
  invalid_auth_mode: kind(400, 'The authentication mode does not fit the provider.'),
  invalid_credentials: kind(400, 'The credentials are not valid.'),
  connection_test_failed: kind(400, 'The provider refused the credentials.'),
  connection_validation_failed: kind(400, 'A validation function refused the connection.'),
  connection_deletion_refused: kind(424, 'A function refused the deletion of the connection.'),
  wrong_auth_mode: kind(400, 'The app was not installed.'),
  invalid_state: kind(400, 'Nobody waits for this callback, or not any more: start again.'),
  missing_state_cookie: kind(400, 'The callback came to another browser than the one that began.'),
  invalid_callback: kind(400, 'The provider sent the person back without an authorization.'),
  integration_not_allowed: kind(400, 'The connect session does not allow this integration.'),
  invalid_connection: kind(400, 'The connection to authorise again does not exist any more.'),
  missing_client_id: kind(400, 'Send client_id.'),
  missing_client_secret: kind(400, 'Send client_secret.'),
  missing_client_private_key: kind(400, 'Send client_private_key.'),
  invalid_certificate_or_key_format: kind(400, 'The certificate or its key cannot be read.'),
  client_credentials_fetch_error: kind(
    400,
    'The provider gave no token for these client credentials.',
  ),
  two_step_credentials_fetch_error: kind(400, 'The provider gave no token for these credentials.'),
  refresh_token_external_error: kind(400, 'The provider did not renew the token.'),
  request_token_external_error: kind(400, 'The provider gave no request token.'),
  unable_to_parse_token_response: kind(400, 'The answer of the provider holds no token.'),
  unknown_provider_template: kind(404, 'The provider is not in the catalogue any more.'),
  connection_refresh_backoff: retryable(
    424,
    'The last refresh failed; the next is tried after 30 seconds.',
  ),
  connection_refresh_exhausted: kind(
    424,
    'Refreshing failed for days: authorise the connection again.',
  ),
  // functions
  invalid_cli_version: kind(
    400,
    'The command line is of a version that does not fit this service.',
  ),
  compilation_error: kind(400, 'The function does not compile.'),
  integration_not_found: kind(400, 'No such integration.'),
  invalid_action_input: kind(400, 'The input does not fit the action.'),
  invalid_action_output: kind(400, 'The output does not fit the action.'),
  invalid_sync_record: kind(400, 'A record is not valid.'),
  invalid_checkpoint: kind(400, 'Invalid checkpoint: only flat strings, numbers and booleans.'),
  invalid_metadata: kind(400, 'The metadata does not fit the function.'),
  checkpoint_conflict: kind(409, 'The checkpoint was changed by another writer.'),
  script_output_too_large: kind(424, 'The output is larger than 2 MB.'),
  missing_required_fields_on_deploy: kind(400, 'A deployed function lacks a required field.'),
  deploy_missing_json_schema_model: kind(400, 'A model has no JSON schema in the deployment.'),
  deploy_script_security_rejected: kind(400, 'The function uses what the sandbox refuses.'),
  concurrent_deployment: retryable(409, 'Another deployment is under way.'),
  ambiguous_function: kind(409, 'Several functions have this name; say which type.'),
  function_managed_by_deploy: kind(
    400,
    'The function comes from a deployed project; remove it there.',
  ),
  timeout: kind(504, 'This took too long.'),
  action_script_failure: kind(424, 'The action ended with an ActionError.'),
  action_script_runtime_error: kind(424, 'The function failed.'),
  script_http_error: kind(424, 'The provider answered an error to the function.'),
  script_network_error: kind(424, 'The function could not reach the provider.'),
  script_internal_error: kind(424, 'The function threw an error.'),
  script_aborted: kind(410, 'The run was cancelled.'),
  execution_timeout: kind(504, 'The function ran out of time.'),
  function_runtime_out_of_memory: kind(424, 'The function ran out of memory.'),
  function_runtime_other: kind(424, 'The function ended unexpectedly.'),
  execution_environment_unavailable: retryable(503, 'No place is free to run the function.'),
  run_interrupted: retryable(503, 'The run was interrupted.'),
  // records
  record_too_large: kind(413, 'A record is larger than 1 MB.'),
  unknown_model: kind(400, 'The model is not declared by the sync.'),
  delete_pass_missing: kind(400, 'No track deletes starting point was found.'),
  stale_attempt: kind(409, 'A later attempt of this run has taken over.'),
  stream_closed: kind(409, 'The connection of these records was deleted.'),
  command_dead_lettered: kind(500, 'A saved batch could not be processed and was set aside.'),
  // webhooks of providers
  webhook_missing_signature: kind(401, 'The webhook is not signed.'),
  webhook_invalid_signature: kind(401, 'The signature of the webhook is not valid.'),
  webhook_missing_token: kind(401, 'The webhook comes without its token.'),
  webhook_missing_secret: kind(401, 'There is no secret to verify the webhook with.'),
  webhook_missing_connection_id: kind(400, 'The webhook does not say which connection it is of.'),
  webhook_invalid_payload: kind(400, 'The body of the webhook cannot be read.'),
  webhook_no_connection_or_existing_installation_id: kind(
    400,
    'No connection waits for this installation, or the webhook does not name it.',
  ),
  webhook_unknown_provider: kind(400, 'There are no rules for webhooks of this provider.'),
  // authentication
  missing_auth_header: kind(401, 'Send the header Authorization: Bearer <key>.'),
  malformed_auth_header: kind(401, 'The Authorization header must be "Bearer <key>".'),
  invalid_secret_key_format: kind(401, 'The key does not have the form of an API key.'),
  unknown_account: kind(401, 'No such API key.'),
  invalid_connect_session_token_format: kind(
    401,
    'The token does not have the form of a connect session token.',
  ),
  unknown_connect_session_token: kind(401, 'The connect session is over or was never made.'),
  missing_public_key: kind(401, 'Send the query parameter connect_session_token.'),
  deprecated_authentication: kind(
    401,
    'Public keys are not taken any more: send connect_session_token.',
  ),
  forbidden: kind(403, 'The key may not do this.'),
  // resources
  not_found: kind(404, 'Not found.'),
  unknown_environment: kind(404, 'No such environment.'),
  dryrun_not_found: kind(404, 'No such dry run.'),
  deployment_not_found: kind(404, 'No such deployment.'),
  connection_not_found: kind(404, 'No such connection.'),
  method_not_allowed: kind(405, 'The path exists, the method does not.'),
  conflict: kind(409, 'This already exists or was changed meanwhile.'),
  multiple_webhook_signing_keys: kind(
    409,
    'The key before this one still signs; rotate again later.',
  ),
  endpoint_removed: kind(410, 'This endpoint was removed.'),
  request_too_large: kind(413, 'The request body is too large.'),
  invalid_content_type: kind(415, 'Send Content-Type: application/json.'),
  too_many_request: retryable(429, 'Too many requests.'),
  idempotency_conflict: kind(409, 'This Idempotency-Key was used with another request.'),
  root_key_missing: retryable(503, 'A root key that opens this secret is missing here.'),
  // operators
  consumer_not_resettable: kind(409, 'The position of this consumer group cannot be moved so.'),
  reset_skips_messages: kind(409, 'Messages that were not taken yet would be left out.'),
  // the log and its readers
  writer_fenced: retryable(503, 'Another writer took over.'),
  log_unavailable: retryable(503, 'The event log did not acknowledge in time.'),
  log_full: retryable(503, 'The disk of the event log is full.'),
  log_corrupt: kind(500, 'The event log is damaged.'),
  unknown_topic: kind(500, 'No such topic.'),
  history_gone: kind(410, 'The log no longer holds what was then.'),
  projection_unavailable: retryable(503, 'The records cannot be read at the moment.'),
  projection_refused: kind(500, 'The projection store refused the rows.'),
  command_expired: retryable(503, 'The command was not decided before its deadline.'),
  coordination_unavailable: retryable(503, 'The nodes cannot reach one another at the moment.'),
  registry_unavailable: retryable(503, 'The schema registry cannot be reached at the moment.'),
  incompatible_schema: kind(500, 'The schema breaks readers of the topic.'),
  server_error: kind(500, 'Something went wrong.'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof catalogue;

export interface ErrorDetails {
  /** Replaces the catalogue's sentence; names the thing and says how to mend it. */
  readonly message?: string;
  /** Replaces the sentence of `remedies`. */
  readonly fix?: string;
  readonly errors?: readonly Issue[];
  readonly payload?: unknown;
  /** What the provider answered, beside `payload` (docs/reference/errors.md#body). */
  readonly upstream?: unknown;
  /** Overrides the catalogue's status (docs/reference/errors.md#codes-with-other-statuses). */
  readonly status?: number;
  /** Seconds for `Retry-After`. */
  readonly retryAfterS?: number;
}

/** The only error that crosses a module's edge. Anything else is a bug and answers a bare 500. */
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

  /** What crosses a thread, a topic or a process: rebuilt by `GatewayError.from`. */
  toJSON(): { code: ErrorCode; details: ErrorDetails } {
    return { code: this.code, details: this.details };
  }

  static from(json: { code: string; details?: ErrorDetails }): GatewayError {
    if (json.code in catalogue) return new GatewayError(json.code as ErrorCode, json.details);
    return new GatewayError('server_error', json.details);
  }
}
