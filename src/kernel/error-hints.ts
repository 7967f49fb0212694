import type { ErrorCode } from './errors.ts';

const correct = 'Correct what error.errors names, then send the request again.';
const named = 'Check the id or the name, and that the key belongs to its environment.';
const authoriseAgain =
  'Authorise the connection again: with a connect session, or with new credentials.';
const comeBack = 'Wait for the seconds of Retry-After, then send the same request again.';
const ours =
  'Report it with error.request_id to whoever runs the service: its log names the request.';
const inTheFunction = 'Read the log of the run, mend the function, deploy it and run it again.';
const ofTheWebhook =
  'Compare the secret and the address that the provider has with those of the integration.';
const inTheDefinition =
  'Mend the definition of the provider, or the configuration of the connection.';
const askForCredentials = 'Check the credentials with the provider, then send them again.';

/** What to do about each error, in a sentence: `error.fix` on the wire (docs/reference/errors.md#body). */
export const errorHints = {
  // request
  invalid_json: 'Send one JSON value in UTF-8, nested at most 64 levels deep.',
  invalid_body: correct,
  invalid_query_params: correct,
  invalid_headers: correct,
  invalid_uri_params: correct,
  invalid_cursor_value: 'Send a cursor as an answer gave it, or none to begin at the start.',
  invalid_request: 'Compare the request with GET /docs, then send it again.',
  missing_provider_config_key: 'Send provider_config_key, the unique key of the integration.',
  missing_connection_id: 'Send the header Connection-Id, or connection_id.',
  missing_api_url: inTheDefinition,
  url_not_allowed: 'Use an address of the public internet, or have it added to SVC_EGRESS_ALLOW.',
  too_many_redirects: 'Ask for the address that the redirects end at.',
  // state
  unknown_provider: 'Look the name up with GET /providers.',
  unsupported_provider: inTheDefinition,
  unsupported_auth: inTheDefinition,
  unknown_provider_config: 'Look the unique key up with GET /integrations, with the same key.',
  unknown_connection: 'Look the pair up with GET /connections, with the same key.',
  unknown_sync: 'Look the names up with GET /sync/status and syncs=*, or deploy the sync.',
  no_syncs_found: 'Look the names up with GET /sync/status and syncs=*, or deploy the sync.',
  invalid_variant: 'Use another name than base.',
  sync_variant_already_exists:
    'Use the variant that is there, delete it first, or choose another name.',
  sync_interval_too_short: 'Choose 30 seconds or more, such as "every 5 minutes".',
  sync_interval_invalid: 'Write it like "every hour", "every 30 minutes" or "every day".',
  cannot_delete_prod_environment: 'Delete another environment: the one named prod stays.',
  invalid_is_prod_flag: 'Leave is_production out, or use an environment of another name.',
  resource_capped: 'Delete what is not needed any more, then try again.',
  function_disabled: 'Enable the function, or deploy it again.',
  disabled_resource: 'Enable the function, or deploy it again.',
  // credentials and auth flows
  invalid_auth_mode: 'Use the endpoint of the auth_mode that GET /providers/{provider} names.',
  invalid_credentials: authoriseAgain,
  connection_test_failed: askForCredentials,
  connection_validation_failed:
    'Send credentials that the validation function of the integration takes.',
  connection_deletion_refused:
    'Mend what the function complains of, then delete the connection again.',
  wrong_auth_mode: 'Install the app at the provider, rather than asking its owner to.',
  invalid_state: 'Start the authorisation from its beginning, and end it within 30 minutes.',
  missing_state_cookie: 'End the authorisation in the browser that began it, with cookies allowed.',
  invalid_callback: 'Start the authorisation from its beginning, and grant it at the provider.',
  integration_not_allowed: 'Make the session with this integration among its allowed_integrations.',
  invalid_connection: 'Make a session for a new connection.',
  missing_client_id: correct,
  missing_client_secret: correct,
  missing_client_private_key: correct,
  invalid_certificate_or_key_format: 'Send the certificate and its key in PEM.',
  client_credentials_fetch_error: askForCredentials,
  two_step_credentials_fetch_error: askForCredentials,
  refresh_token_external_error: authoriseAgain,
  request_token_external_error:
    'Check the client id and the secret of the integration with the provider.',
  unable_to_parse_token_response: inTheDefinition,
  unknown_provider_template: 'Put the definition of the provider back with SVC_PROVIDERS.',
  connection_refresh_backoff: 'Try again after 30 seconds.',
  connection_refresh_exhausted: authoriseAgain,
  // functions
  invalid_cli_version: 'Use the command line of the same version as the service.',
  compilation_error: 'Mend the function where the message says.',
  integration_not_found:
    'Look the unique key up with GET /integrations, or create the integration.',
  invalid_action_input: 'Send an input of the schema that the action declares.',
  invalid_action_output: 'Let the action return what its output schema declares, then deploy it.',
  invalid_sync_record: 'Give every record a unique id that is a text or a number.',
  invalid_checkpoint: 'Save a flat object of texts, numbers and booleans.',
  invalid_metadata: 'Set metadata of the schema that the function declares.',
  checkpoint_conflict: 'Read the checkpoint again, and save over what it is now.',
  script_output_too_large: 'Return less than 2 MB, for example a page of it, or save records.',
  missing_required_fields_on_deploy: correct,
  deploy_missing_json_schema_model:
    'Compile the functions again with the CLI, which adds the schemas.',
  deploy_script_security_rejected: 'Leave out what the message names, then deploy again.',
  concurrent_deployment: 'Wait until the other deployment has ended, then deploy again.',
  ambiguous_function: 'Add type=sync, type=action or type=on-event.',
  function_managed_by_deploy: 'Remove the function from the project, then deploy the project.',
  timeout: 'Make the function smaller, then try again.',
  action_script_failure: 'Act on the payload: the function threw it for its caller.',
  action_script_runtime_error: inTheFunction,
  script_http_error: 'Read upstream: the provider says there what it does not take.',
  script_network_error: 'Check that the provider can be reached, then run it again.',
  script_internal_error: inTheFunction,
  script_aborted: 'Run it again if it is still wanted.',
  execution_timeout: 'Let the function do less in one run, for example with a checkpoint.',
  function_runtime_out_of_memory:
    'Let the function keep less at a time, for example save each page.',
  function_runtime_other: inTheFunction,
  execution_environment_unavailable: comeBack,
  run_interrupted: 'Run it again if what it does may happen twice: it may have begun.',
  // records
  record_too_large: 'Save less in one record: at most 1 MB of JSON.',
  unknown_model: 'Declare the model in the sync, or use one that it declares.',
  delete_pass_missing: 'Call trackDeletesStart before the first record is fetched.',
  stale_attempt: 'Do nothing: a later attempt of the run goes on.',
  stream_closed: 'Connect again to have records of this account.',
  command_dead_lettered: ours,
  // webhooks of providers
  webhook_missing_signature: ofTheWebhook,
  webhook_invalid_signature: ofTheWebhook,
  webhook_missing_token: ofTheWebhook,
  webhook_missing_secret:
    'Store the secret that the provider gave, in the metadata of the connection.',
  webhook_missing_connection_id:
    'Register the address with svcConnectionId=<connection id> in its query.',
  webhook_invalid_payload: 'Send the body as the provider makes it.',
  webhook_no_connection_or_existing_installation_id:
    'Connect the account before it sends webhooks.',
  webhook_unknown_provider: 'Give the definition of the provider rules for its webhooks.',
  // authentication
  missing_auth_header: 'Send a key of the environment in this header.',
  malformed_auth_header: 'Put one space between Bearer and the key, and nothing after it.',
  invalid_secret_key_format: 'Send a whole key: svc_env_ or svc_acct_ and 43 characters.',
  unknown_account:
    'Check that the key was not deleted and belongs to this service, or make another.',
  invalid_connect_session_token_format: 'Send the whole token of POST /connect/sessions.',
  unknown_connect_session_token: 'Make another session: one lasts 30 minutes.',
  missing_public_key: 'Add connect_session_token=<token> to the query.',
  deprecated_authentication: 'Make a connect session and send its token.',
  forbidden: 'Use a key of the kind and with the scope that the message names.',
  // resources
  not_found: named,
  unknown_environment: 'Look the environment up with GET /environments.',
  dryrun_not_found: 'Start another dry run, and ask with the id that its answer gives.',
  deployment_not_found: 'Start another deployment: it is kept for seven days only.',
  connection_not_found: 'Look the pair up with GET /connections, with the same key.',
  method_not_allowed: 'Use one of the methods that the header Allow names.',
  conflict: 'Read what is there now, then choose another name or send the change again.',
  multiple_webhook_signing_keys: 'Wait until the key before this one has ended, at most 24 hours.',
  endpoint_removed: 'Use the endpoint that the message names.',
  request_too_large: 'Send less at a time.',
  invalid_content_type:
    'Send JSON, not compressed, with the header Content-Type: application/json.',
  too_many_request: comeBack,
  idempotency_conflict: 'Send another Idempotency-Key with another request.',
  root_key_missing: 'Have the root key that sealed it added to SVC_ENCRYPTION_KEY.',
  // operators
  consumer_not_resettable: 'Leave its position as it is, for the reason that the message gives.',
  reset_skips_messages: 'Choose an earlier position, or allow it with skip.',
  // the log and its readers
  writer_fenced: comeBack,
  log_unavailable: comeBack,
  log_full: 'Make room on the disk of the event log; then the same request will do.',
  log_corrupt: 'Restore the event log from its last backup.',
  unknown_topic: ours,
  history_gone: 'Ask for a later time.',
  projection_unavailable: comeBack,
  projection_refused: ours,
  command_expired: comeBack,
  coordination_unavailable: comeBack,
  registry_unavailable: comeBack,
  incompatible_schema: 'Change the schema so that old and new readers understand it.',
  server_error: ours,
} as const satisfies Record<ErrorCode, string>;
