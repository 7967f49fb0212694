import type { ErrorCode } from './errors.ts';

const correct = 'Correct the fields that error.errors lists, then send the request again.';
const named = 'Check the id or the name, and that the key belongs to its environment.';
const reauthorize = 'Reauthorize the connection with a connect session or with new credentials.';
const retryLater =
  'Wait for the number of seconds in Retry-After, then send the same request again.';
const reportIt = 'Report error.request_id to the operator of the service.';
const fixFunction =
  'Correct what the message names, at the line that is given; deploy it and run it again.';
const checkWebhook =
  'Compare the secret and the address at the provider with those of the integration.';
const fixDefinition = 'Fix the provider definition or the configuration of the connection.';
const checkCredentials = 'Check the credentials with the provider, then send them again.';

/** The fix for each error, as one sentence: `error.fix` on the wire (docs/reference/errors.md#body). */
export const errorHints = {
  // request
  invalid_json: 'Send one JSON value in UTF-8, nested at most 64 levels deep.',
  invalid_body: correct,
  invalid_query_params: correct,
  invalid_headers: correct,
  invalid_uri_params: correct,
  invalid_cursor_value:
    'Send a cursor from an earlier response, or omit it to start at the beginning.',
  invalid_request: 'Compare the request with GET /docs/api, then send it again.',
  missing_provider_config_key: 'Send provider_config_key, the unique key of the integration.',
  missing_connection_id: 'Send the header Connection-Id, or connection_id.',
  missing_api_url: fixDefinition,
  url_not_allowed: 'Use a public address, or add the address to SVC_EGRESS_ALLOW.',
  too_many_redirects: 'Request the final address of the redirects directly.',
  // state
  unknown_provider: 'Look the name up with GET /providers.',
  unsupported_provider: fixDefinition,
  unsupported_auth: fixDefinition,
  unknown_provider_config: 'Look the unique key up with GET /integrations, with the same key.',
  unknown_connection: 'Look the pair up with GET /connections, with the same key.',
  unknown_sync: 'Look the names up with GET /sync/status and syncs=*, or deploy the sync.',
  no_syncs_found: 'Look the names up with GET /sync/status and syncs=*, or deploy the sync.',
  invalid_variant: 'Use another name than base.',
  sync_variant_already_exists: 'Use the existing variant, delete it first, or choose another name.',
  sync_interval_too_short: 'Choose 30 seconds or more, such as "every 5 minutes".',
  sync_interval_invalid: 'Use a frequency such as "every hour", "every 30 minutes" or "every day".',
  cannot_delete_prod_environment: 'Choose another environment: prod cannot be deleted.',
  invalid_is_prod_flag: 'Leave is_production out, or use an environment of another name.',
  resource_capped: 'Delete unused resources, then try again.',
  function_disabled: 'Enable the function, or deploy it again.',
  disabled_resource: 'Enable the function, or deploy it again.',
  // credentials and auth flows
  invalid_auth_mode: 'Use the endpoint of the auth_mode that GET /providers/{provider} names.',
  invalid_credentials: reauthorize,
  connection_test_failed: checkCredentials,
  connection_validation_failed:
    'Send credentials that the validation function of the integration accepts.',
  connection_deletion_refused:
    'Fix the problem that the function reports, then delete the connection again.',
  wrong_auth_mode: 'Install the app at the provider instead of requesting its installation.',
  invalid_state: 'Start the sign-in again and finish it within 30 minutes.',
  missing_state_cookie: 'Finish the sign-in in the browser that started it, with cookies allowed.',
  invalid_callback: 'Start the sign-in again and grant access at the provider.',
  integration_not_allowed: 'Create the session with this integration in allowed_integrations.',
  invalid_connection: 'Create a session for a new connection.',
  missing_client_id: correct,
  missing_client_secret: correct,
  missing_client_private_key: correct,
  invalid_certificate_or_key_format: 'Send the certificate and its key in PEM.',
  client_credentials_fetch_error: checkCredentials,
  two_step_credentials_fetch_error: checkCredentials,
  refresh_token_external_error: reauthorize,
  authorization_server_unknown: 'Check the address of the MCP server.',
  client_registration_refused:
    'Create a client at the authorization server, and add its id and secret to the integration.',
  request_token_external_error:
    'Check the client id and the secret of the integration with the provider.',
  unable_to_parse_token_response: fixDefinition,
  unknown_provider_template: 'Restore the provider definition with SVC_PROVIDERS.',
  connection_refresh_backoff: 'Try again after 30 seconds.',
  connection_refresh_exhausted: reauthorize,
  // functions
  invalid_cli_version: 'Install the CLI of the version of the service.',
  compilation_error: 'Fix the function at the position in the message.',
  integration_not_found:
    'Look the unique key up with GET /integrations, or create the integration.',
  invalid_action_input:
    'Send an input that matches the schema of the action, or set input_validation of the environment to warn.',
  invalid_action_output:
    'Change the action to return an output that matches its schema, then deploy it.',
  invalid_sync_record: 'Give every record a unique id: text, or a number up to 2^53 - 1.',
  invalid_checkpoint: 'Save a flat object of strings, numbers and booleans.',
  invalid_metadata: 'Set metadata that matches the schema of the function.',
  checkpoint_conflict: 'Read the checkpoint again, then save the change to its current value.',
  script_output_too_large: 'Return less than 2 MB, for example one page, or save records.',
  missing_required_fields_on_deploy: correct,
  deploy_missing_json_schema_model:
    'Compile the functions again with the CLI, which adds the schemas.',
  deploy_script_security_rejected: 'Remove the feature that the message names, then deploy again.',
  concurrent_deployment: 'Wait until the other deployment has finished, then deploy again.',
  ambiguous_function: 'Add type=sync, type=action or type=on-event.',
  function_managed_by_deploy: 'Remove the function from the project, then deploy the project.',
  timeout: 'Make the function smaller, then try again.',
  action_script_failure: 'Handle the payload of the ActionError in the caller.',
  action_script_runtime_error: fixFunction,
  script_http_error:
    'Read the response of the provider in error.upstream. For 429 and 5xx send the request with retries, or run the function again later; for 401 and 403 check the connection.',
  script_network_error: 'Check that the provider is reachable, then run the function again.',
  script_internal_error: fixFunction,
  script_aborted: 'Start the run again if it is still needed.',
  execution_timeout: 'Reduce the work of one run, for example with a checkpoint.',
  function_runtime_out_of_memory:
    'Reduce the memory use of the function, for example save each page.',
  function_runtime_other: fixFunction,
  execution_environment_unavailable: retryLater,
  run_interrupted:
    'Start the run again only if its effects may happen twice, because it may have started.',
  // records
  record_too_large: 'Save less in one record: at most 1 MB of JSON.',
  unknown_model: 'Declare the model in the sync, or use one that it declares.',
  delete_pass_missing: 'Call trackDeletesStart before the first record is fetched.',
  stale_attempt: 'Ignore this error: a later attempt of the run continues.',
  stream_closed: 'Create a new connection to sync records of this account.',
  command_dead_lettered: reportIt,
  // webhooks of providers
  webhook_missing_signature: checkWebhook,
  webhook_invalid_signature: checkWebhook,
  webhook_missing_token: checkWebhook,
  webhook_missing_secret: 'Store the secret of the provider in the metadata of the connection.',
  webhook_missing_connection_id:
    'Register the address with svcConnectionId=<connection id> in its query.',
  webhook_invalid_payload: 'Send the original body of the provider.',
  webhook_no_connection_or_existing_installation_id:
    'Connect the account before it sends webhooks.',
  webhook_unknown_provider: 'Add rules for webhooks to the provider definition.',
  // authentication
  missing_auth_header: 'Send the header Authorization: Bearer <key> with a key of the environment.',
  malformed_auth_header: 'Put one space between Bearer and the key, and nothing after it.',
  invalid_secret_key_format: 'Send the complete key: svc_env_ or svc_acct_ and 43 characters.',
  unknown_account:
    'Check that the key belongs to this service and was not deleted, or create another key.',
  expired_api_key:
    'Use the present secret of the key, or create another key; an account key can rotate it with a later `expires_at`.',
  invalid_connect_session_token_format: 'Send the complete token of POST /connect/sessions.',
  unknown_connect_session_token: 'Create another session, which is valid for 30 minutes.',
  unknown_console_session: 'Sign in to the console with a key or a new code.',
  unknown_console_code:
    'Make a new code with POST /console/codes, which works once for 5 minutes, or ask the sender of the link for a new one.',
  person_deactivated: 'Ask an owner of the account to give you access again.',
  no_role:
    'Ask an owner of the account to invite you, or the operator to give one of your groups a role.',
  sign_in_refused: 'Ask an owner of the account for access.',
  sign_in_expired: 'Start the sign-in again in this browser.',
  sign_in_failed: 'Start the sign-in again; if it fails again, check the settings SVC_OIDC_*.',
  identity_provider_unavailable:
    'Try again later; if it goes on, check SVC_OIDC_ISSUER and that this service may reach it.',
  missing_public_key: 'Add connect_session_token=<token> to the query.',
  deprecated_authentication:
    'Create a connect session and send its token as connect_session_token.',
  invalid_csrf_token: 'Send the csrf_token of GET /console/session in Svc-Csrf-Token.',
  foreign_origin: 'Open the console at the address of this service, or send an API key instead.',
  forbidden: 'Use a key with the type and scope that the message names.',
  // resources
  not_found: named,
  unknown_environment: 'Look the environment up with GET /environments.',
  template_not_found: 'Look the name up with GET /providers/{provider}/templates.',
  dryrun_not_found: 'Start another dry run and use the id in its response.',
  deployment_not_found: 'Start another deployment, because deployments are kept for seven days.',
  connection_not_found: 'Look the pair up with GET /connections, with the same key.',
  method_not_allowed: 'Use one of the methods in the header Allow.',
  conflict: 'Read the current state, then choose another name or send the change again.',
  multiple_webhook_signing_keys:
    'Wait until the previous key has expired; that of an endpoint ends at once with overlap_seconds: 0.',
  endpoint_removed: 'Use the endpoint that the message names.',
  request_too_large: 'Split the request into smaller ones.',
  invalid_content_type: 'Send uncompressed JSON with the header Content-Type: application/json.',
  provider_limit_reached:
    'Send the request again after the seconds of Retry-After, or with the header Retries: then the gateway waits.',
  too_many_request: retryLater,
  idempotency_conflict: 'Use a new Idempotency-Key for each different request.',
  root_key_missing: 'Add the missing root key to SVC_ENCRYPTION_KEY.',
  // queries
  sql_refused: 'Send one SELECT over the views of docs/sql.md, with functions of their columns.',
  sql_failed: 'Correct the query where the message says.',
  sql_limit: 'Read less, or raise the limit that the message names.',
  // operators
  consumer_not_resettable: 'Keep the position, for the reason in the message.',
  reset_skips_messages: 'Choose an earlier position, or allow it with skip.',
  // the log and its readers
  writer_fenced: retryLater,
  log_unavailable: retryLater,
  log_full: 'Free space on the disk of the event log, then send the same request again.',
  read_only: retryLater,
  log_incomplete:
    'Restore the event log from its last backup, or accept the loss with svc log accept-loss.',
  log_corrupt: 'Restore the event log from its last backup.',
  unknown_topic: reportIt,
  history_gone: 'Request a later time.',
  projection_unavailable: retryLater,
  projection_damaged:
    'Ask the operator of the service to rebuild the table: GET /ready names it and the command.',
  projection_refused: reportIt,
  command_expired: retryLater,
  coordination_unavailable: retryLater,
  registry_unavailable: retryLater,
  incompatible_schema: 'Change the schema so that it is compatible with old and new readers.',
  server_error: reportIt,
} as const satisfies Record<ErrorCode, string>;

/** The fix for a webhook that an endpoint of the application did not get, by the code of its last attempt. */
const deliveryHints: Readonly<Record<string, string>> = {
  url_not_allowed: errorHints.url_not_allowed,
  circuit_open: 'Make the endpoint answer 2xx again, then recover the failed webhooks.',
  token_url_not_allowed:
    'Set a token_url of the public internet, or let the operator allow it with SVC_EGRESS_ALLOW.',
  token_endpoint_away: 'Make the token endpoint of the oauth of the endpoint answer within 10 s.',
  token_refused:
    'Correct token_url, client_id, client_secret and scopes in the oauth of the endpoint: its token endpoint refused them.',
  token_unreadable:
    'Correct token_url in the oauth of the endpoint: its answer holds no bearer token in JSON.',
  ECONNREFUSED: 'Start the application, or correct the host and the port of the endpoint.',
  ENOTFOUND: 'Correct the host of the endpoint.',
  EAI_AGAIN: 'Check the host of the endpoint, and the DNS of the service.',
  ETIMEDOUT: 'Let the endpoint answer 2xx at once, and do the work afterwards.',
  ECONNRESET: 'Read in the log of the endpoint why it closed the connection.',
};
const unreachable = 'Check that the service can reach the address of the endpoint.';
const refusedDelivery =
  'Read in the log of the endpoint why it refused the webhook: check path, method and signature.';
const failedDelivery = 'Read in the log of the endpoint why it failed, and correct it.';

/** The fix for an attempt at an endpoint, as one sentence; null where it was delivered, or not tried. */
export function deliveryFix({
  status,
  errorCode,
}: {
  readonly status: number | null;
  readonly errorCode: string | null;
}): string | null {
  if (errorCode !== null) return deliveryHints[errorCode] ?? unreachable;
  if (status === null || (status >= 200 && status < 300)) return null;
  return status < 500 ? refusedDelivery : failedDelivery;
}
