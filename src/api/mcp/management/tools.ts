import type { Json } from '#kernel/stable-json.ts';

/** An operation of the API as a tool. What is absent here comes from its route. */
export interface ToolDefinition {
  readonly name: string;
  /** Method and path of the operation. */
  readonly endpoint: string;
  /** Fields of the request that have this value, whatever the agent wants. */
  readonly fixed?: Readonly<Record<string, Json>>;
  /** Fields of the request that an agent does not get. */
  readonly hidden?: readonly string[];
  /** Fields that the operation leaves optional, but without which its response is too long for a model. */
  readonly required?: readonly string[];
  /** The fields of the result, or of each of its items, that an agent gets; absent: all. */
  readonly kept?: readonly string[];
  /** Whether it can delete or overwrite. */
  readonly isDestructive?: true;
  /** Whether a second call with the same arguments changes nothing more. */
  readonly isIdempotent?: true;
  /** Whether requests are sent to the provider. */
  readonly callsProvider?: true;
  /** What the agent does after it, or with its result. */
  readonly next: string;
}

const templateFields = ['name', 'type', 'provider', 'version', 'description', 'scopes'] as const;
const templateFacts = ['metadata', 'returns', 'input', 'runs', 'auto_start', 'event'] as const;
const refreshes = ['force_refresh', 'refresh_token', 'refresh_github_app_jwt_token'] as const;

const reading: readonly ToolDefinition[] = [
  {
    name: 'find_providers',
    endpoint: 'GET /providers',
    required: ['search'],
    kept: ['name', 'display_name', 'categories', 'auth_mode', 'docs'],
    next: 'Call get_provider with the `name` of the one that fits. None: search for a shorter part of the name, in lower case.',
  },
  {
    name: 'get_provider',
    endpoint: 'GET /providers/{provider}',
    next: 'An app is registered at `setup_guide_url` or `docs`, with `callback_url` as its redirect URI; modes such as API_KEY need none. Call list_templates with the `name` for functions that exist already, and list_integrations for integrations of it.',
  },
  {
    name: 'list_templates',
    endpoint: 'GET /providers/{provider}/templates',
    kept: [...templateFields, ...templateFacts, 'incremental', 'deletions', 'documentation'],
    next: 'Call get_template for the code of one. Its `scopes` belong into the credentials of the integration, its `metadata` into the connection. deploy_function deploys it. Without a fitting template write a function and check it with compile_function.',
  },
  {
    name: 'get_template',
    endpoint: 'GET /providers/{provider}/templates/{name}',
    next: 'deploy_function deploys it by its name. A function of your own is one file: what `files` imports must be part of it; only `svc` and `zod` can be imported.',
  },
  {
    name: 'list_integrations',
    endpoint: 'GET /integrations',
    fixed: { credentials: 'none' },
    next: '`unique_key` is the `provider_config_key`, `integration_id` or `uniqueKey` of other tools. Without one of the provider call create_integration.',
  },
  {
    name: 'get_integration',
    endpoint: 'GET /integrations/{uniqueKey}',
    fixed: { include: ['webhook', 'scopes', 'rate_limit'] },
    next: 'Call list_connections for its connections, list_functions for its functions.',
  },
  {
    name: 'list_connections',
    endpoint: 'GET /connections',
    fixed: { credentials: 'none' },
    next: '`connection_id` with `provider_config_key` names one in other tools. Without a connection of the integration call create_connect_link and give its link to the person who has the account.',
  },
  {
    name: 'get_connection',
    endpoint: 'GET /connections/{connectionId}',
    fixed: { credentials: 'masked' },
    hidden: refreshes,
    next: '`errors` names what its credentials or syncs need. Credentials that the provider refuses are renewed with create_reconnect_link.',
  },
  {
    name: 'list_functions',
    endpoint: 'GET /integrations/{uniqueKey}/functions',
    next: 'Call get_function_code for the source of one, get_sync_status for the state of its syncs.',
  },
  {
    name: 'get_function',
    endpoint: 'GET /integrations/{uniqueKey}/functions/{name}',
    next: 'Call get_function_code for its source, list_runs with `function` for its runs.',
  },
  {
    name: 'get_function_code',
    endpoint: 'GET /integrations/{uniqueKey}/functions/{name}/code',
    next: 'Check a changed source with compile_function and start_dry_run before deploy_function.',
  },
  {
    name: 'get_sync_status',
    endpoint: 'GET /sync/status',
    next: 'After a successful run read the records with list_records; `models` names them. Of a failed one call list_runs, then get_run.',
  },
  {
    name: 'list_runs',
    endpoint: 'GET /runs',
    next: 'Call get_run with the `id` of one. A failed run is explained there.',
  },
  {
    name: 'get_run',
    endpoint: 'GET /runs/{id}',
    next: '`error` has the code, the location in the source and the fix; `failure` the lines around it, the causes and the request to the provider. Correct the source and check it with start_dry_run; if the provider refused the credentials, call create_reconnect_link.',
  },
  {
    name: 'list_log_operations',
    endpoint: 'POST /logs/operations',
    next: 'Call list_log_messages with the `id` of one as `operationId`.',
  },
  {
    name: 'list_log_messages',
    endpoint: 'POST /logs/messages',
    next: '`cursorBefore` and `cursorAfter` lead to other pages.',
  },
  {
    name: 'list_records',
    endpoint: 'GET /records',
    next: '`next_cursor` as `cursor` gets the next page. Call get_record_history for the changes of one.',
  },
  {
    name: 'get_record_history',
    endpoint: 'GET /records/history',
    next: 'Each change names its run: call get_run with it.',
  },
  {
    name: 'get_dry_run',
    endpoint: 'GET /functions/dryruns/{id}',
    next: 'While `status` is waiting or running, call it again. After success `result` has what the function saved; deploy the source with deploy_function.',
  },
  {
    name: 'get_deployment',
    endpoint: 'GET /functions/deployments/{id}',
    next: 'While `status` is waiting or running, call it again. After success call get_sync_status with the name of the sync; one that does not start by itself is started with trigger_sync.',
  },
  {
    name: 'list_sql_views',
    endpoint: 'GET /sql/views',
    next: 'Query a view with run_sql.',
  },
  {
    name: 'run_sql',
    endpoint: 'POST /sql',
    next: 'list_sql_views names views and columns.',
  },
];

const writing: readonly ToolDefinition[] = [
  {
    name: 'create_integration',
    endpoint: 'POST /integrations',
    next: 'Call create_connect_link with its `unique_key` in `allowed_integrations`.',
  },
  {
    name: 'update_integration',
    endpoint: 'PATCH /integrations/{uniqueKey}',
    isDestructive: true,
    isIdempotent: true,
    next: 'Connections have new scopes only once they are authorized again: create_reconnect_link.',
  },
  {
    name: 'create_connect_link',
    endpoint: 'POST /connect/sessions',
    next: 'Give `connect_link` to the person who has the account at the provider. Once they have finished, list_connections has the connection.',
  },
  {
    name: 'create_reconnect_link',
    endpoint: 'POST /connect/sessions/reconnect',
    next: 'Give `connect_link` to the person who has the account at the provider. Once they have finished, get_connection shows no error.',
  },
  {
    name: 'set_connection_metadata',
    endpoint: 'PATCH /connections/metadata',
    isDestructive: true,
    isIdempotent: true,
    next: 'The next run of a function sees it; start one with trigger_sync.',
  },
  {
    name: 'compile_function',
    endpoint: 'POST /functions/compile',
    kept: ['bundle_size_bytes', 'compiled_at'],
    isIdempotent: true,
    next: 'Run it on a connection with start_dry_run.',
  },
  {
    name: 'start_dry_run',
    endpoint: 'POST /functions/dryruns',
    callsProvider: true,
    next: 'Call get_dry_run with the `id`.',
  },
  {
    name: 'deploy_function',
    endpoint: 'POST /functions/deployments',
    isDestructive: true,
    next: 'Call get_deployment with the `id`.',
  },
  {
    name: 'trigger_sync',
    endpoint: 'POST /sync/trigger',
    isDestructive: true,
    callsProvider: true,
    next: 'Call get_sync_status until the sync has ended.',
  },
  {
    name: 'pause_sync',
    endpoint: 'POST /sync/pause',
    isIdempotent: true,
    next: 'start_sync ends the pause.',
  },
  {
    name: 'start_sync',
    endpoint: 'POST /sync/start',
    isIdempotent: true,
    callsProvider: true,
    next: 'Call get_sync_status for its next run.',
  },
  {
    name: 'run_action',
    endpoint: 'POST /action/trigger',
    hidden: ['x_async', 'x_max_retries'],
    isDestructive: true,
    callsProvider: true,
    next: 'Of a failed action call get_run with the `run_id` of the error.',
  },
  {
    name: 'cancel_run',
    endpoint: 'POST /runs/{id}/cancel',
    isDestructive: true,
    isIdempotent: true,
    next: 'Call get_run for its end.',
  },
  {
    name: 'replay_run',
    endpoint: 'POST /runs/{id}/replays',
    next: 'Call get_dry_run with the `id`.',
  },
];

/** Every tool, in the order in which an agent meets them. */
export const toolDefinitions: readonly ToolDefinition[] = [...reading, ...writing];

/** What every agent reads first. */
export const instructions = `svc is an integration gateway: it connects accounts of people at providers, runs functions (syncs, actions) with them,
and keeps what syncs save as records. The tools are operations of its HTTP API with the key of one environment.

From a wish such as "sync the contacts of <provider>" to records:
1. find_providers, get_provider, list_templates: what the provider needs, and which functions exist.
2. list_integrations; without one of the provider create_integration. A person registers the app at the provider and gives you
   its client id and secret.
3. list_connections; without one create_connect_link. A person opens the link.
4. get_template or code of your own; compile_function; start_dry_run and get_dry_run on the connection.
5. deploy_function and get_deployment.
6. get_sync_status, if needed trigger_sync; then list_records.
A failure: list_runs with status failed, then get_run.

Each result ends with what can follow. An error names its fix. Tools that change something are offered only at
?write=true, and only with the scopes of the key.`;
