/* oxlint-disable -- made by a program */
/**
 * The operations of the API with what they take and answer, made of its OpenAPI document by `npm run generate`; do
 * not edit.
 */

export type Error = { readonly error: { readonly code: string; readonly message?: string; readonly fix?: string; readonly errors?: readonly ({ readonly code: string; readonly message: string; readonly path: readonly string[] })[]; readonly payload?: unknown; readonly upstream?: unknown; readonly run_id?: string; readonly failure?: RunFailure; readonly method?: string; readonly path?: string; readonly request_id?: string } };

export type RunFailure = { readonly name: string; readonly location: string | null; readonly excerpt: { readonly line: number; readonly lines: readonly string[] } | null; readonly frames: readonly ({ readonly function: string | null; readonly file: string; readonly line: number; readonly column: number })[]; readonly causes: readonly ({ readonly name: string; readonly message: string; readonly code: string | null; readonly location: string | null })[]; readonly call: { readonly method: string; readonly url: string; readonly status: number | null; readonly code: string | null; readonly body: string | null } | null };

export type Provider = { readonly name: string; readonly display_name: string; readonly categories: readonly string[]; readonly auth_mode: 'OAUTH1' | 'OAUTH2' | 'OAUTH2_CC' | 'BASIC' | 'API_KEY' | 'APP_STORE' | 'CUSTOM' | 'APP' | 'NONE' | 'TBA' | 'JWT' | 'BILL' | 'TWO_STEP' | 'SIGNATURE' | 'MCP_OAUTH2' | 'AWS_SIGV4'; readonly docs: string; readonly logo_url: string; readonly callback_url: string | null; readonly app_setup_url: string | null; readonly setup_guide_url?: string; readonly default_scopes?: readonly string[]; readonly available_scopes?: readonly string[]; readonly scope_descriptions?: { readonly [name: string]: string }; readonly revocation?: { readonly url: string; readonly [name: string]: unknown }; readonly integration_config?: { readonly [name: string]: { readonly title: string; readonly description: string; readonly secret?: boolean; readonly optional?: boolean; readonly enum?: readonly string[]; readonly enum_titles?: { readonly [name: string]: string }; readonly warnings?: readonly string[]; readonly [name: string]: unknown } }; readonly [name: string]: unknown };

export type Template = { readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly provider: string; readonly version: string; readonly description: string; readonly scopes: readonly string[]; readonly metadata: { readonly [name: string]: unknown } | null; readonly returns?: readonly string[]; readonly input?: string; readonly json_schema?: { readonly [name: string]: unknown }; readonly runs?: string; readonly auto_start?: boolean; readonly incremental?: boolean; readonly deletions?: 'every_run' | 'runs_from_start' | 'none'; readonly event?: string; readonly documentation: readonly string[] };

export type TemplateWithFiles = { readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly provider: string; readonly version: string; readonly description: string; readonly scopes: readonly string[]; readonly metadata: { readonly [name: string]: unknown } | null; readonly returns?: readonly string[]; readonly input?: string; readonly json_schema?: { readonly [name: string]: unknown }; readonly runs?: string; readonly auto_start?: boolean; readonly incremental?: boolean; readonly deletions?: 'every_run' | 'runs_from_start' | 'none'; readonly event?: string; readonly documentation: readonly string[]; readonly files: readonly ({ readonly path: string; readonly content: string })[] };

export type Integration = { readonly unique_key: string; readonly display_name: string; readonly provider: string; readonly logo: string; readonly forward_webhooks: boolean; readonly revoke_on_disconnect: boolean; readonly rate_limit: RateLimit | 'provider' | 'none'; readonly created_at: string; readonly updated_at: string; readonly webhook_url?: string | null; readonly integration_config?: { readonly [name: string]: string }; readonly custom?: { readonly [name: string]: string }; readonly scopes?: readonly string[] | null; readonly credentials?: { readonly [name: string]: string | null } | null; readonly auth_mode?: 'OAUTH1' | 'OAUTH2' | 'OAUTH2_CC' | 'BASIC' | 'API_KEY' | 'APP_STORE' | 'CUSTOM' | 'APP' | 'NONE' | 'TBA' | 'JWT' | 'BILL' | 'TWO_STEP' | 'SIGNATURE' | 'MCP_OAUTH2' | 'AWS_SIGV4' | null; readonly rate_limit_use?: { readonly limit: RateLimit | null; readonly requests: number | null; readonly paused_seconds: number | null }; readonly connections?: number };

export type RateLimit = { readonly requests: number; readonly seconds: number; readonly per: 'integration' | 'connection' };

export type Success = { readonly success: true };

export type ConnectionEntry = { readonly id: number; readonly connection_id: string; readonly provider: string; readonly provider_config_key: string; readonly created: string; readonly metadata: { readonly [name: string]: unknown } | null; readonly tags: { readonly [name: string]: string }; readonly errors: readonly ({ readonly type: 'auth' | 'sync'; readonly log_id: string; readonly message?: string })[]; readonly end_user?: EndUser; readonly credentials?: { readonly [name: string]: unknown } };

export type EndUser = { readonly id: string; readonly display_name: string | null; readonly email: string | null; readonly tags: { readonly [name: string]: string }; readonly organization: { readonly id: string; readonly display_name: string | null } | null };

export type Connection = { readonly id: number; readonly connection_id: string; readonly provider_config_key: string; readonly provider: string; readonly errors: readonly ({ readonly type: 'auth' | 'sync'; readonly log_id: string; readonly message?: string })[]; readonly end_user: EndUser | null; readonly tags: { readonly [name: string]: string }; readonly metadata: { readonly [name: string]: unknown }; readonly connection_config: { readonly [name: string]: unknown }; readonly webhook_url_override: string | null; readonly created_at: string; readonly updated_at: string; readonly last_fetched_at: string; readonly credentials: { readonly [name: string]: unknown } };

export type ConnectionsMetadata = { readonly connection_id: string | readonly string[]; readonly provider_config_key: string; readonly metadata: { readonly [name: string]: unknown } };

export type ExportedConnection = { readonly connection_id: string; readonly provider_config_key: string; readonly provider: string; readonly created_at: string; readonly tags: { readonly [name: string]: string }; readonly end_user: EndUser | null; readonly sealed: string };

export type ConnectToken = { readonly token: string; readonly connect_link: string; readonly expires_at: string };

export type ConnectSession = { readonly endUser: EndUser | null; readonly connectUISettings: { readonly theme: { readonly light: { readonly primary: string }; readonly dark: { readonly primary: string } }; readonly defaultTheme: 'light' | 'dark' | 'system'; readonly showWatermark: boolean; readonly logo?: string; readonly texts?: { readonly [name: string]: { readonly [name: string]: string } } }; readonly allowed_integrations?: readonly string[]; readonly integrations_config_defaults?: { readonly [name: string]: { readonly connection_config?: { readonly [name: string]: unknown }; readonly authorization_params?: { readonly [name: string]: unknown } } }; readonly isReconnecting?: true; readonly overrides?: { readonly [name: string]: { readonly docs_connect: string } }; readonly websocketsPath: string };

export type RequestedScope = { readonly name: string; readonly description: string | null; readonly language: 'en' | 'es' | 'fr' | 'de' | null };

export type Connected = { readonly connectionId: string; readonly providerConfigKey: string };

export type Environment = { readonly id: number; readonly uuid: string; readonly name: string; readonly is_production: boolean; readonly webhook_url: string | null; readonly webhook_url_secondary: string | null; readonly on_auth_creation: boolean; readonly on_auth_refresh_error: boolean; readonly on_sync_error: boolean; readonly on_sync_completion_always: boolean; readonly on_async_action_completion: boolean; readonly webhook_retry_waits_seconds: readonly number[]; readonly payload_mode: 'plain' | 'sealed'; readonly retention: { readonly prune_after_days: number; readonly delete_after_days: number }; readonly validation: 'off' | 'warn' | 'error'; readonly input_validation: 'warn' | 'error'; readonly keep_all_logs_until: string | null; readonly connect_ui: { readonly theme: { readonly light: { readonly primary: string }; readonly dark: { readonly primary: string } }; readonly default_theme: 'light' | 'dark' | 'system'; readonly show_watermark: boolean; readonly logo?: string; readonly texts?: { readonly [name: string]: { readonly [name: string]: string } } }; readonly created_at: string; readonly updated_at: string };

export type WebhookSigningKeys = { readonly webhook_signing_key: string; readonly previous_webhook_signing_key: string | null };

export type ApiKey = { readonly id: string; readonly display_name: string; readonly scopes: readonly string[]; readonly secret: string; readonly last_used_at: string | null; readonly last_used_from: string | null; readonly expires_at: string | null; readonly previous_secret: PreviousSecret | null; readonly created_at: string };

export type PreviousSecret = { readonly secret: string; readonly valid_until: string; readonly last_used_at: string | null; readonly last_used_from: string | null };

export type ApiKeyWithSecret = { readonly id: string; readonly display_name: string; readonly scopes: readonly string[]; readonly secret: string; readonly expires_at: string | null; readonly created_at: string };

export type ConsoleSession = { readonly csrf_token: string; readonly expires_at: string; readonly keys: readonly ({ readonly id: string; readonly name: string; readonly kind: 'account' | 'environment'; readonly environment: { readonly id: number; readonly name: string } | null; readonly scopes: readonly string[]; readonly expires_at: string | null })[]; readonly person: { readonly id: string; readonly email: string; readonly display_name: string } | null; readonly access: readonly ({ readonly environment: { readonly uid: string; readonly id: number; readonly name: string } | null; readonly roles: readonly ('owner' | 'developer' | 'support' | 'read_only')[]; readonly scopes: readonly string[] })[] };

export type ListedConsoleSession = { readonly id: string; readonly person: { readonly id: string; readonly email: string; readonly display_name: string } | null; readonly keys: readonly string[]; readonly browser: string | null; readonly ip_prefix: string | null; readonly created_at: string; readonly last_used_at: string; readonly expires_at: string; readonly is_current: boolean };

export type ConsoleCode = { readonly code: string; readonly expires_at: string; readonly url: string };

export type Person = { readonly id: string; readonly email: string; readonly display_name: string; readonly roles: readonly PersonRole[]; readonly issuer: string | null; readonly is_active: boolean; readonly created_at: string; readonly last_sign_in_at: string | null };

export type PersonRole = { readonly environment: string; readonly role: 'owner' | 'developer' | 'support' | 'read_only'; readonly from: 'owner' | 'groups' };

export type RoleGrant = { readonly environment: string; readonly role: 'owner' | 'developer' | 'support' | 'read_only' };

export type Variable = { readonly name: string; readonly value: string };

export type Record = { readonly id: string; readonly _svc_metadata: RecordMetadata; readonly [name: string]: unknown };

export type RecordMetadata = { readonly first_seen_at: string; readonly last_modified_at: string; readonly last_action: 'ADDED' | 'UPDATED' | 'DELETED'; readonly deleted_at: string | null; readonly pruned_at?: string; readonly cursor: string };

export type RecordChange = { readonly action: 'added' | 'updated' | 'deleted' | 'pruned' | 'restored'; readonly at: string; readonly version: number | null; readonly cursor: string | null; readonly actor: string | null; readonly run_id: string | null; readonly sync: string | null; readonly first_seen_at: string | null; readonly last_modified_at: string; readonly deleted_at: string | null; readonly pruned_at: string | null; readonly payload_state: 'kept' | 'none' | 'pruned' | 'compacted' | 'unreadable'; readonly payload: { readonly [name: string]: unknown } | null };

export type Function = { readonly id: number; readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly description?: string; readonly scopes?: readonly string[]; readonly enabled: boolean; readonly record_calls: boolean; readonly concurrency: number | null; readonly debounce?: { readonly seconds: number; readonly max_wait_seconds: number; readonly payload: 'last' | 'all' } | null; readonly last_deployed: string; readonly source: 'catalog' | 'standalone' | 'repo'; readonly input?: string; readonly returns?: readonly string[]; readonly models?: readonly string[]; readonly subscription?: string; readonly json_schema?: { readonly [name: string]: unknown }; readonly runs?: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly event?: string | null };

export type ConfiguredFunction = { readonly id: number; readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly description?: string; readonly scopes?: readonly string[]; readonly enabled: boolean; readonly record_calls: boolean; readonly concurrency: number | null; readonly debounce?: { readonly seconds: number; readonly max_wait_seconds: number; readonly payload: 'last' | 'all' } | null; readonly last_deployed: string; readonly source: 'catalog' | 'standalone' | 'repo'; readonly input?: string; readonly returns?: readonly string[]; readonly models?: readonly string[]; readonly subscription?: string; readonly json_schema?: { readonly [name: string]: unknown }; readonly runs?: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly event?: string | null; readonly version: string; readonly sdk_version: string | null; readonly endpoints?: readonly never[]; readonly features?: readonly string[]; readonly webhookSubscriptions?: readonly string[] };

export type KeptLogs = { readonly keep_all_logs_until: string | null; readonly functions: readonly ({ readonly integration_id: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly name: string; readonly keep_all_logs_until: string })[] };

export type EnvironmentScope = { readonly kind: 'environment' };

export type IntegrationScope = { readonly kind: 'integration'; readonly integrationId: string };

export type IntegrationsScope = { readonly kind: 'integrations'; readonly integrationIds: readonly string[] };

export type FunctionScope = { readonly kind: 'function'; readonly integrationId: string; readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change' };

export type SyncToCompare = { readonly type: 'sync'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly syncName: string; readonly providerConfigKey: string; readonly models: readonly string[]; readonly runs: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly sync_type?: 'full' | 'incremental'; readonly input?: string | null; readonly endpoints?: readonly ({ readonly method: string; readonly path: string; readonly group?: string | null })[]; readonly webhookSubscriptions?: readonly string[]; readonly models_json_schema?: { readonly definitions: { readonly [name: string]: { readonly [name: string]: unknown } } }; readonly features?: readonly ('checkpoints')[]; readonly fileBody: { readonly js: string; readonly ts: string } | { readonly js_sha256: string; readonly ts_sha256: string } };

export type ActionToCompare = { readonly type: 'action'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly syncName: string; readonly providerConfigKey: string; readonly models: readonly string[]; readonly runs: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly sync_type?: 'full' | 'incremental'; readonly input?: string | null; readonly endpoints?: readonly ({ readonly method: string; readonly path: string; readonly group?: string | null })[]; readonly webhookSubscriptions?: readonly string[]; readonly models_json_schema?: { readonly definitions: { readonly [name: string]: { readonly [name: string]: unknown } } }; readonly features?: readonly ('checkpoints')[]; readonly fileBody: { readonly js: string; readonly ts: string } | { readonly js_sha256: string; readonly ts_sha256: string } };

export type OnEventToCompare = { readonly type: 'on-event'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly fileBody: { readonly js: string; readonly ts: string } | { readonly js_sha256: string; readonly ts_sha256: string }; readonly name: string; readonly integrationId: string; readonly event: 'post-connection-creation' | 'pre-connection-deletion' | 'validate-connection' };

export type OnChangeToCompare = { readonly type: 'on-change'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly fileBody: { readonly js: string; readonly ts: string } | { readonly js_sha256: string; readonly ts_sha256: string }; readonly name: string; readonly integrationId: string; readonly models: readonly string[]; readonly from?: 'start' | 'end'; readonly batchSize?: number; readonly retries?: number };

export type DeployPreview = { readonly created: readonly DeployedItem[]; readonly updated: readonly UpdatedItem[]; readonly unchanged: readonly DeployedItem[]; readonly deleted: readonly DeployedItem[]; readonly deletedModels: readonly string[]; readonly breaking: readonly BreakingModel[]; readonly syncs_pending: boolean };

export type DeployedItem = { readonly integrationId: string; readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly connections: number; readonly auto_start: boolean };

export type UpdatedItem = { readonly integrationId: string; readonly name: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly connections: number; readonly auto_start: boolean; readonly changes: readonly ({ readonly part: string; readonly model: string | null; readonly from: string | null; readonly to: string | null; readonly fields: readonly ({ readonly field: string; readonly change: 'added' | 'removed' | 'retyped'; readonly from: string | null; readonly to: string | null })[] })[] };

export type BreakingModel = { readonly integrationId: string; readonly function: string; readonly model: string; readonly fields: readonly ({ readonly field: string; readonly change: 'added' | 'removed' | 'retyped'; readonly from: string | null; readonly to: string | null })[]; readonly readers: { readonly api_keys: readonly string[]; readonly webhook_endpoints: readonly string[]; readonly typed_topics: readonly string[] } };

export type SyncToDeploy = { readonly type: 'sync'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly syncName: string; readonly providerConfigKey: string; readonly models: readonly string[]; readonly runs: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly sync_type?: 'full' | 'incremental'; readonly input?: string | null; readonly endpoints?: readonly ({ readonly method: string; readonly path: string; readonly group?: string | null })[]; readonly webhookSubscriptions?: readonly string[]; readonly models_json_schema?: { readonly definitions: { readonly [name: string]: { readonly [name: string]: unknown } } }; readonly features?: readonly ('checkpoints')[]; readonly fileBody: { readonly js: string; readonly ts: string } };

export type ActionToDeploy = { readonly type: 'action'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly syncName: string; readonly providerConfigKey: string; readonly models: readonly string[]; readonly runs: string | null; readonly auto_start?: boolean; readonly track_deletes?: boolean; readonly sync_type?: 'full' | 'incremental'; readonly input?: string | null; readonly endpoints?: readonly ({ readonly method: string; readonly path: string; readonly group?: string | null })[]; readonly webhookSubscriptions?: readonly string[]; readonly models_json_schema?: { readonly definitions: { readonly [name: string]: { readonly [name: string]: unknown } } }; readonly features?: readonly ('checkpoints')[]; readonly fileBody: { readonly js: string; readonly ts: string } };

export type OnEventToDeploy = { readonly type: 'on-event'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly fileBody: { readonly js: string; readonly ts: string }; readonly name: string; readonly integrationId: string; readonly event: 'post-connection-creation' | 'pre-connection-deletion' | 'validate-connection' };

export type OnChangeToDeploy = { readonly type: 'on-change'; readonly version?: string; readonly metadata?: { readonly scopes?: readonly string[]; readonly description?: string }; readonly fileBody: { readonly js: string; readonly ts: string }; readonly name: string; readonly integrationId: string; readonly models: readonly string[]; readonly from?: 'start' | 'end'; readonly batchSize?: number; readonly retries?: number };

export type DeployPlan = { readonly created: readonly DeployedItem[]; readonly updated: readonly UpdatedItem[]; readonly unchanged: readonly DeployedItem[]; readonly deleted: readonly DeployedItem[]; readonly deletedModels: readonly string[]; readonly breaking: readonly BreakingModel[] };

export type FunctionDeployment = { readonly type: 'function'; readonly integration_id: string; readonly allow_destructive?: boolean; readonly function_name: string; readonly function_type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly code: string; readonly version?: string };

export type TemplateDeployment = { readonly type: 'template'; readonly integration_id: string; readonly allow_destructive?: boolean; readonly template: string };

export type SyncName = string | SyncVariant;

export type SyncVariant = { readonly name: string; readonly variant?: string };

export type SyncStatus = { readonly id: string; readonly name: string; readonly variant: string; readonly connection_id: string | null; readonly type: 'INITIAL' | 'INCREMENTAL'; readonly status: 'RUNNING' | 'PAUSED' | 'ERROR' | 'SUCCESS' | 'STOPPED'; readonly latestExecutionStatus: 'RUNNING' | 'SUCCESS' | 'STOPPED' | 'ERROR' | null; readonly frequency: string; readonly finishedAt?: string; readonly latestResult?: { readonly [name: string]: { readonly added: number; readonly updated: number; readonly deleted: number } }; readonly nextScheduledSyncAt: string | null; readonly records_readable: boolean | null; readonly recordCount: { readonly [name: string]: number }; readonly checkpoint: { readonly [name: string]: unknown } | null };

export type Run = { readonly id: string; readonly kind: string; readonly function: string; readonly function_version: string; readonly provider_config_key: string; readonly connection_id: string; readonly variant: string; readonly models: readonly string[]; readonly trigger: string | null; readonly status: string; readonly waiting: { readonly concurrency: number; readonly position: number } | null; readonly attempt: number; readonly queued_at: string; readonly started_at: string | null; readonly ended_at: string | null; readonly duration_ms: number | null; readonly counts: { readonly [name: string]: { readonly added: number; readonly updated: number; readonly deleted: number; readonly unchanged: number } }; readonly checkpoint_from: unknown; readonly checkpoint_to: unknown; readonly records_readable: boolean | null; readonly error: { readonly code: string; readonly message: string; readonly location: string | null; readonly fix: string } | null; readonly log_id: string };

export type QueuedAction = { readonly id: string; readonly statusUrl: string };

export type ActionFailure = { readonly error_type: 'action_script_failure'; readonly payload: { readonly [name: string]: unknown } };

export type LogOperation = { readonly id: string; readonly operation: { readonly type: string; readonly action: string }; readonly state: string; readonly level: string; readonly message: string; readonly source: 'internal'; readonly environmentId: number | null; readonly environmentName: string | null; readonly providerName: string | null; readonly integrationId: string | null; readonly integrationName: string | null; readonly connectionId: string | null; readonly connectionName: string | null; readonly endUserId: string | null; readonly endUserName: string | null; readonly syncConfigId: string | null; readonly syncConfigName: string | null; readonly runId: string | null; readonly error?: { readonly name: string; readonly message: string }; readonly request?: { readonly method: string; readonly url: string; readonly headers: {  } }; readonly response?: { readonly code: number; readonly headers: {  } }; readonly retry?: { readonly attempt: number }; readonly meta?: unknown; readonly createdAt: string; readonly updatedAt: string; readonly startedAt: string; readonly endedAt: string | null; readonly expiresAt: string; readonly durationMs: number | null };

export type LogMessage = { readonly id: string; readonly parentId: string; readonly source: string; readonly level: string; readonly type: 'log' | 'http'; readonly message: string; readonly context?: 'script' | 'proxy' | 'webhook' | 'auth'; readonly state?: string; readonly error?: { readonly name: string; readonly message: string }; readonly request?: { readonly method: string; readonly url: string; readonly headers: {  } }; readonly response?: { readonly code: number; readonly headers: {  } }; readonly retry?: { readonly attempt: number }; readonly meta?: unknown; readonly durationMs?: number; readonly createdAt: string };

export type AuditEvent = { readonly environment: string; readonly seq: number; readonly at: string; readonly actor: string; readonly actor_name: string | null; readonly action: string; readonly target: string; readonly outcome: string; readonly ip_prefix: string | null; readonly details: { readonly [name: string]: unknown } | null; readonly chain_hash: string };

export type Statistics = { readonly step_seconds: number; readonly times: readonly number[]; readonly series: { readonly sync_runs_succeeded: readonly number[]; readonly sync_runs_failed: readonly number[]; readonly action_runs_succeeded: readonly number[]; readonly action_runs_failed: readonly number[]; readonly records_changed: readonly number[]; readonly proxy_requests: readonly number[]; readonly proxy_failed: readonly number[]; readonly webhooks_delivered: readonly number[]; readonly webhooks_failed: readonly number[]; readonly webhooks_received: readonly number[]; readonly authorizations_succeeded: readonly number[]; readonly authorizations_failed: readonly number[] }; readonly totals: { readonly connections: number; readonly failing_connections: number } };

export type Projection = { readonly name: string; readonly topic: string; readonly active_generation: number; readonly schema_version: number; readonly latest_schema_version: number; readonly position: number; readonly end: number; readonly lag: number; readonly rows: number; readonly generations: readonly ProjectionGeneration[] };

export type ProjectionGeneration = { readonly generation: number; readonly state: string; readonly is_paused: boolean; readonly schema_version: number; readonly pace_percent: number; readonly tables: readonly string[]; readonly rows: number; readonly bytes: number; readonly position: number; readonly end: number; readonly lag: number; readonly partitions: readonly ({ readonly partition: number; readonly position: number; readonly end: number; readonly lag: number })[]; readonly progress: number; readonly rate_per_s: number | null; readonly seconds_left: number | null; readonly requested_at: string | null; readonly ready_at: string | null; readonly switched_at: string | null; readonly failure: string | null; readonly new_failures: number | null; readonly verification: { readonly id: string; readonly state: string; readonly against: number; readonly requested_at: string; readonly failure: string | null; readonly streams: number; readonly expected_rows: number; readonly found_rows: number; readonly differences: number; readonly examples: readonly ({ readonly table: string; readonly partition: number; readonly stream: string; readonly expected_rows: number; readonly found_rows: number; readonly expected_last_position: number; readonly found_last_position: number })[] } | null };

export type CustomProjection = { readonly name: string; readonly projection: string; readonly description: string; readonly version: string; readonly models: readonly string[]; readonly integrations: readonly string[] | null; readonly columns: readonly ({ readonly name: string; readonly type: string })[]; readonly key: readonly string[]; readonly state: 'starting' | 'filling' | 'current' | 'replacing' | 'held' | 'failing'; readonly failed_records: number; readonly failures: readonly ({ readonly integration: string; readonly connection_id: string; readonly model: string; readonly variant: string; readonly record_id: string; readonly error: string })[]; readonly content_hash: string; readonly deployed_at: string };

export type Topic = { readonly name: string; readonly address: string; readonly purpose: string; readonly key: string; readonly partitions: number; readonly settings: { readonly [name: string]: unknown }; readonly messages_max: number; readonly groups: readonly ({ readonly name: string; readonly lag: number })[] };

export type TopicWithSchema = { readonly name: string; readonly address: string; readonly purpose: string; readonly key: string; readonly partitions: number; readonly settings: { readonly [name: string]: unknown }; readonly messages_max: number; readonly groups: readonly ({ readonly name: string; readonly lag: number })[]; readonly ranges: readonly ({ readonly partition: number; readonly start: number; readonly end: number })[]; readonly value_schema: { readonly [name: string]: unknown }; readonly headers_schema: { readonly [name: string]: unknown } };

export type TopicMessage = { readonly partition: number; readonly offset: number; readonly timestamp: string | null; readonly key: string; readonly headers: { readonly [name: string]: string }; readonly kind: 'value' | 'tombstone' | 'unreadable'; readonly schema_id: number | null; readonly bytes: number; readonly value: unknown; readonly error: string | null };

export type ConsumerGroup = { readonly name: string; readonly topic: string; readonly why: string; readonly resettable: boolean; readonly can_repeat: boolean; readonly replay: string; readonly lag: number; readonly partitions: readonly ({ readonly partition: number; readonly start: number; readonly committed: number | null; readonly end: number; readonly lag: number; readonly reset: { readonly id: string; readonly from: number; readonly to: number; readonly repeat: boolean; readonly by: string; readonly asked_at: string; readonly applied_at: string | null } | null })[] };

export type TimePosition = { readonly time: string };

export type OffsetPosition = { readonly offset: number };

export type ConsumerGroupReset = { readonly dry_run: boolean; readonly id?: string; readonly replayed: number; readonly skipped: number; readonly partitions: readonly ({ readonly partition: number; readonly from: number; readonly to: number; readonly replayed: number; readonly skipped: number; readonly state?: 'applied' | 'waiting' })[] };

export type DeadLetter = { readonly id: string; readonly state: 'parked' | 'retrying' | 'resolved' | 'dropped'; readonly consumer: string; readonly topic: string; readonly partition: number; readonly offset: number; readonly key: string; readonly environment_id: string; readonly integration: string | null; readonly connection_id: string | null; readonly run_id: string | null; readonly attempts: number; readonly retries: number; readonly error: { readonly code: string; readonly message: string } | null; readonly parked_at: string; readonly changed_at: string; readonly changed_by: string };

export type DeadLetterWithMessage = { readonly id: string; readonly state: 'parked' | 'retrying' | 'resolved' | 'dropped'; readonly consumer: string; readonly topic: string; readonly partition: number; readonly offset: number; readonly key: string; readonly environment_id: string; readonly integration: string | null; readonly connection_id: string | null; readonly run_id: string | null; readonly attempts: number; readonly retries: number; readonly error: { readonly code: string; readonly message: string } | null; readonly parked_at: string; readonly changed_at: string; readonly changed_by: string; readonly message: { readonly key: string | null; readonly headers: { readonly [name: string]: string }; readonly bytes: number; readonly value: unknown; readonly unreadable: string | null } | null };

export type RootKeys = { readonly sealing: string; readonly root_keys: readonly ({ readonly id: string; readonly known: boolean; readonly data_keys: number; readonly removable: boolean })[]; readonly rewrap: { readonly id: string; readonly root_key: string; readonly state: 'running' | 'ended'; readonly total: number; readonly done: number; readonly by: string; readonly ordered_at: string; readonly ended_at: string | null } | null };

export type JsonRpcResponse = JsonRpcResult | JsonRpcError;

export type JsonRpcResult = { readonly jsonrpc: '2.0'; readonly result: unknown; readonly id: string | number | null };

export type JsonRpcError = { readonly jsonrpc: '2.0'; readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }; readonly id?: string | number | null };

export type WebhookEndpoint = { readonly id: string; readonly display_name: string; readonly url: string; readonly kinds: readonly ('auth' | 'sync' | 'async_action' | 'forward' | 'test')[] | null; readonly provider_config_key: string | null; readonly connection_id: string | null; readonly enabled: boolean; readonly header_names: readonly string[]; readonly oauth: { readonly token_url: string; readonly client_id: string; readonly client_authentication: 'basic' | 'body'; readonly scopes: readonly string[]; readonly audience: string | null } | null; readonly client_certificate: { readonly subject: string; readonly fingerprint_sha256: string; readonly valid_until: string } | null; readonly retry_waits_seconds: readonly number[] | null; readonly filter: { readonly match: 'all' | 'any'; readonly conditions: readonly ({ readonly path: string; readonly op: 'equals' | 'not_equals' | 'in' | 'not_in' | 'greater_than' | 'less_than' | 'starts_with' | 'ends_with' | 'contains' | 'exists' | 'not_exists'; readonly value?: string | number | boolean | null | readonly (string | number | boolean | null)[] })[] } | null; readonly ordered: boolean; readonly filtered: number; readonly disable_after_days: number | null; readonly failing_since: string | null; readonly failures: number; readonly disabled_at: string | null; readonly managed_by: 'environment' | 'endpoint'; readonly created_at: string; readonly updated_at: string };

export type WebhookEndpointSigningKeys = { readonly webhook_signing_key: string; readonly previous_webhook_signing_key: string | null; readonly previous_valid_until: string | null; readonly managed_by: 'environment' | 'endpoint' };

export type WebhookMessage = { readonly id: string; readonly endpoint_id: string; readonly kind: string; readonly state: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'filtered'; readonly provider_config_key: string | null; readonly connection_id: string | null; readonly run_id: string | null; readonly attempts: number; readonly status: number | null; readonly error_code: string | null; readonly fix: string | null; readonly next_attempt_at: string | null; readonly replay_of: string | null; readonly created_at: string; readonly updated_at: string };

export type WebhookDelivery = { readonly id: string; readonly provider_config_key: string; readonly disposition: 'received' | 'accepted' | 'rejected' | 'unmatched' | 'duplicate' | 'reprocessed' | 'refused'; readonly reason: string | null; readonly status: number | null; readonly type: string | null; readonly provider_delivery_id: string | null; readonly connection_ids: readonly string[]; readonly run_ids: readonly string[]; readonly headers: { readonly [name: string]: string }; readonly refused_count: number | null; readonly received_at: string; readonly decided_at: string | null };

export type Demo = { readonly is_available: boolean };

export type DemoSetUp = { readonly integrations: readonly ({ readonly unique_key: string; readonly functions: readonly string[] })[] };

export type TypedTopic = { readonly provider_config_key: string; readonly model: string; readonly topic: string; readonly subject: string; readonly before: boolean; readonly ts_ns: boolean; readonly key: 'text' | 'struct'; readonly snapshot: string | null; readonly heartbeat_s: number | null; readonly enabled_at: string };

export type Change = { readonly id: string | null; readonly place: string; readonly action: 'added' | 'updated' | 'deleted' | 'pruned' | 'restored' | 'purged'; readonly at: string | null; readonly provider_config_key: string | null; readonly connection_id: string | null; readonly connection_uid: string; readonly model: string; readonly variant: string; readonly record_id: string; readonly seq: number | null; readonly version: number | null; readonly actor: string | null; readonly run_id: string | null; readonly sync: string | null; readonly first_seen_at: string | null; readonly last_modified_at: string | null; readonly deleted_at: string | null; readonly pruned_at: string | null; readonly record: { readonly id: string; readonly [name: string]: unknown } | null };

export type Subscription = { readonly name: string; readonly provider_config_key: string | null; readonly connection_id: string | null; readonly model: string | null; readonly variant: string | null; readonly models: readonly string[] | null; readonly target: SubscriptionTarget | null; readonly failing: number; readonly behind: number; readonly parked: number; readonly created_at: string; readonly committed_at: string | null };

export type SubscriptionTarget = FunctionTarget | WebhookTarget;

export type FunctionTarget = { readonly type: 'function'; readonly provider_config_key: string; readonly name: string };

export type WebhookTarget = { readonly type: 'webhook'; readonly url: string; readonly payload: 'ids' | 'records'; readonly batch_size: number; readonly retries: number };

export type SubscriptionTargetToSet = { readonly type: 'webhook'; readonly url: string; readonly payload?: 'ids' | 'records'; readonly batch_size?: number; readonly retries?: number };

export type ParkedChange = { readonly place: string; readonly reason: string; readonly replaying: boolean; readonly parked_at: string; readonly change: Change | null };

export type SqlResult = { readonly columns: readonly ({ readonly name: string; readonly type: string })[]; readonly rows: readonly (readonly unknown[])[] };

export type SqlView = { readonly name: string; readonly description: string; readonly columns: readonly ({ readonly name: string; readonly type: string; readonly description: string })[] };

export type SavedQuery = { readonly name: string; readonly description: string; readonly query: string; readonly created_at: string; readonly updated_at: string };

export type AlertDestination = { readonly id: string; readonly display_name: string; readonly type: 'webhook' | 'slack' | 'email'; readonly target: string; readonly alerts: readonly ('connections_failing' | 'refreshes_failing' | 'dead_letters' | 'projections_stuck' | 'webhook_endpoints_disabled')[] | null; readonly enabled: boolean; readonly created_at: string; readonly updated_at: string };

export type Alert = { readonly alert: 'connections_failing' | 'refreshes_failing' | 'dead_letters' | 'projections_stuck' | 'webhook_endpoints_disabled'; readonly firing: boolean; readonly count: number; readonly subjects: readonly string[]; readonly since: string | null; readonly notified_at: string | null };

export interface Operations {
  /** Check that the process answers. */
  'GET /health': {
    readonly answer: { readonly result: string; readonly reasons?: readonly string[] };
  };
  /** Check that this node can do its work. */
  'GET /ready': {
    readonly answer: { readonly result: string; readonly reasons?: readonly string[] };
  };
  /** Get the whole catalog of providers. */
  'GET /providers.json': {
    readonly answer: { readonly [name: string]: Provider };
  };
  /** List the providers of the catalog. */
  'GET /providers': {
    readonly query?: { readonly search?: string };
    readonly headers?: { readonly 'accept-language'?: string };
    readonly answer: { readonly data: readonly Provider[] };
  };
  /** Get a provider of the catalog. */
  'GET /providers/{provider}': {
    readonly params: { readonly provider: string };
    readonly headers?: { readonly 'accept-language'?: string };
    readonly answer: { readonly data: Provider };
  };
  /** Get the logo of a provider. */
  'GET /images/template-logos/{file}': {
    readonly params: { readonly file: string };
    readonly answer: string;
  };
  /** List the templates of a provider. */
  'GET /providers/{provider}/templates': {
    readonly params: { readonly provider: string };
    readonly answer: { readonly data: readonly Template[] };
  };
  /** Get a template with its files. */
  'GET /providers/{provider}/templates/{name}': {
    readonly params: { readonly provider: string; readonly name: string };
    readonly answer: { readonly data: TemplateWithFiles };
  };
  /** List the integrations of the environment. */
  'GET /integrations': {
    readonly query?: { readonly credentials?: 'none'; readonly include?: 'usage' };
    readonly answer: { readonly data: readonly Integration[] };
  };
  /** Create an integration. */
  'POST /integrations': {
    readonly body: { readonly provider: string; readonly unique_key: string; readonly display_name?: string; readonly credentials?: unknown; readonly forward_webhooks?: boolean; readonly revoke_on_disconnect?: boolean; readonly rate_limit?: RateLimit | 'provider' | 'none'; readonly integration_config?: { readonly [name: string]: string }; readonly custom?: { readonly [name: string]: string } };
    readonly answer: { readonly data: Integration };
  };
  /** Get an integration. */
  'GET /integrations/{uniqueKey}': {
    readonly params: { readonly uniqueKey: string };
    readonly query?: { readonly include?: readonly ('webhook' | 'scopes' | 'credentials' | 'config' | 'rate_limit')[] };
    readonly answer: { readonly data: Integration };
  };
  /** Update an integration. */
  'PATCH /integrations/{uniqueKey}': {
    readonly params: { readonly uniqueKey: string };
    readonly body?: { readonly unique_key?: string; readonly display_name?: string; readonly credentials?: unknown; readonly forward_webhooks?: boolean; readonly revoke_on_disconnect?: boolean; readonly rate_limit?: RateLimit | 'provider' | 'none'; readonly integration_config?: { readonly [name: string]: string }; readonly custom?: { readonly [name: string]: string } };
    readonly answer: { readonly data: Integration };
  };
  /** Delete an integration. */
  'DELETE /integrations/{uniqueKey}': {
    readonly params: { readonly uniqueKey: string };
    readonly answer: Success;
  };
  /** List connections, newest first. */
  'GET /connections': {
    readonly query?: { readonly connectionId?: string; readonly connectionIds?: readonly string[]; readonly search?: string; readonly endUserId?: string; readonly endUserOrganizationId?: string; readonly integrationId?: readonly string[]; readonly tags?: { readonly [name: string]: string }; readonly errors?: 'auth' | 'sync' | 'any' | 'none'; readonly credentials?: 'none'; readonly limit?: number; readonly cursor?: string; readonly page?: number };
    readonly answer: { readonly connections: readonly ConnectionEntry[]; readonly next_cursor: string | null };
  };
  /** Create or update a connection with given credentials. */
  'POST /connections': {
    readonly body: { readonly provider_config_key: string; readonly connection_id?: string; readonly metadata?: { readonly [name: string]: unknown }; readonly connection_config?: { readonly [name: string]: unknown }; readonly created_at?: string; readonly webhook_url_override?: string; readonly end_user?: { readonly id: string; readonly email?: string; readonly display_name?: string; readonly tags?: { readonly [name: string]: string } }; readonly organization?: { readonly id: string; readonly display_name?: string }; readonly tags?: { readonly [name: string]: string }; readonly credentials: unknown };
    readonly answer: Connection;
  };
  /** Get a connection. */
  'GET /connections/{connectionId}': {
    readonly params: { readonly connectionId: string };
    readonly query: { readonly provider_config_key: string; readonly force_refresh?: boolean; readonly refresh_token?: boolean; readonly refresh_github_app_jwt_token?: boolean; readonly credentials?: 'masked' };
    readonly answer: Connection;
  };
  /** Update end user, tags and webhook address of a connection. */
  'PATCH /connections/{connectionId}': {
    readonly params: { readonly connectionId: string };
    readonly query: { readonly provider_config_key: string };
    readonly body?: { readonly webhook_url_override?: string; readonly end_user?: { readonly id: string; readonly email?: string; readonly display_name?: string; readonly tags?: { readonly [name: string]: string } }; readonly organization?: { readonly id: string; readonly display_name?: string }; readonly tags?: { readonly [name: string]: string } };
    readonly answer: Success;
  };
  /** Delete a connection. */
  'DELETE /connections/{connectionId}': {
    readonly params: { readonly connectionId: string };
    readonly query: { readonly provider_config_key: string };
    readonly answer: Success;
  };
  /** Replace the metadata of connections. */
  'POST /connections/metadata': {
    readonly body: ConnectionsMetadata;
    readonly answer: ConnectionsMetadata;
  };
  /** Merge keys into the metadata of connections. */
  'PATCH /connections/metadata': {
    readonly body: ConnectionsMetadata;
    readonly answer: ConnectionsMetadata;
  };
  /** List connections, newest first. Deprecated: use /connections. */
  'GET /connection': {
    readonly query?: { readonly connectionId?: string; readonly connectionIds?: readonly string[]; readonly search?: string; readonly endUserId?: string; readonly endUserOrganizationId?: string; readonly integrationId?: readonly string[]; readonly tags?: { readonly [name: string]: string }; readonly errors?: 'auth' | 'sync' | 'any' | 'none'; readonly credentials?: 'none'; readonly limit?: number; readonly cursor?: string; readonly page?: number };
    readonly answer: { readonly connections: readonly ConnectionEntry[]; readonly next_cursor: string | null };
  };
  /** Removed: use POST /connections. */
  'POST /connection': {
    readonly answer: never;
  };
  /** Get a connection. Deprecated: use /connections/{connectionId}. */
  'GET /connection/{connectionId}': {
    readonly params: { readonly connectionId: string };
    readonly query: { readonly provider_config_key: string; readonly force_refresh?: boolean; readonly refresh_token?: boolean; readonly refresh_github_app_jwt_token?: boolean; readonly credentials?: 'masked' };
    readonly answer: Connection;
  };
  /** Delete a connection. Deprecated: use /connections/{connectionId}. */
  'DELETE /connection/{connectionId}': {
    readonly params: { readonly connectionId: string };
    readonly query: { readonly provider_config_key: string };
    readonly answer: Success;
  };
  /** Replace the metadata of connections. Deprecated: use /connections/metadata. */
  'POST /connection/metadata': {
    readonly body: ConnectionsMetadata;
    readonly answer: ConnectionsMetadata;
  };
  /** Merge keys into the metadata of connections. Deprecated: use /connections/metadata. */
  'PATCH /connection/metadata': {
    readonly body: ConnectionsMetadata;
    readonly answer: ConnectionsMetadata;
  };
  /** Removed: use POST /connections/metadata. */
  'POST /connection/{connectionId}/metadata': {
    readonly params: { readonly connectionId: string };
    readonly answer: never;
  };
  /** Removed: use PATCH /connections/metadata. */
  'PATCH /connection/{connectionId}/metadata': {
    readonly params: { readonly connectionId: string };
    readonly answer: never;
  };
  /** Allow the export of an environment to a public key. */
  'POST /environments/{environmentId}/exports': {
    readonly params: { readonly environmentId: number };
    readonly body: { readonly public_key: { readonly [name: string]: unknown } };
    readonly answer: { readonly data: { readonly grant: string; readonly key_id: string; readonly expires_at: string } };
  };
  /** Export connections with encrypted credentials. */
  'POST /connections/export': {
    readonly body: { readonly grant: string; readonly limit?: number; readonly cursor?: string };
    readonly answer: { readonly connections: readonly ExportedConnection[]; readonly next_cursor: string | null };
  };
  /** Create a connect session. */
  'POST /connect/sessions': {
    readonly body: { readonly end_user?: { readonly id: string; readonly email?: string; readonly display_name?: string; readonly tags?: { readonly [name: string]: string } }; readonly organization?: { readonly id: string; readonly display_name?: string }; readonly tags?: { readonly [name: string]: string }; readonly integrations_config_defaults?: { readonly [name: string]: { readonly user_scopes?: string; readonly authorization_params?: { readonly [name: string]: string }; readonly connection_config?: { readonly [name: string]: unknown } } }; readonly overrides?: { readonly [name: string]: { readonly docs_connect?: string } }; readonly webhook_url_override?: string; readonly allowed_integrations?: readonly string[] };
    readonly answer: { readonly data: ConnectToken };
  };
  /** Create a connect session that renews a connection. */
  'POST /connect/sessions/reconnect': {
    readonly body: { readonly end_user?: { readonly id: string; readonly email?: string; readonly display_name?: string; readonly tags?: { readonly [name: string]: string } }; readonly organization?: { readonly id: string; readonly display_name?: string }; readonly tags?: { readonly [name: string]: string }; readonly integrations_config_defaults?: { readonly [name: string]: { readonly user_scopes?: string; readonly authorization_params?: { readonly [name: string]: string }; readonly connection_config?: { readonly [name: string]: unknown } } }; readonly overrides?: { readonly [name: string]: { readonly docs_connect?: string } }; readonly webhook_url_override?: string; readonly connection_id: string; readonly integration_id: string };
    readonly answer: { readonly data: ConnectToken };
  };
  /** Get the connect session of the token. */
  'GET /connect/session': {
    readonly answer: { readonly data: ConnectSession };
  };
  /** End the connect session of the token. */
  'DELETE /connect/session': {
    readonly answer: undefined;
  };
  /** Start an authorization at the provider. */
  'GET /oauth/connect/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly ws_client_id?: string; readonly params?: { readonly [name: string]: string }; readonly authorization_params?: { readonly [name: string]: string }; readonly user_scope?: string; readonly credentials?: { readonly oauth_client_id_override?: string; readonly oauth_client_secret_override?: string; readonly oauth_refresh_token_override?: string } };
    readonly answer: string;
  };
  /** List the scopes that an authorization asks for. */
  'GET /oauth/connect/{providerConfigKey}/scopes': {
    readonly params: { readonly providerConfigKey: string };
    readonly headers?: { readonly 'accept-language'?: string };
    readonly answer: { readonly data: readonly RequestedScope[] };
  };
  /** Complete an authorization. */
  'GET /oauth/callback': {
    readonly headers?: { readonly cookie?: string; readonly referer?: string };
    readonly answer: string;
  };
  /** Complete an authorization whose response is a form. */
  'POST /oauth/callback': {
    readonly headers?: { readonly cookie?: string; readonly referer?: string };
    readonly body?: unknown;
    readonly answer: string;
  };
  /** Complete the installation of an app. */
  'GET /app-auth/connect': {
    readonly headers?: { readonly cookie?: string; readonly referer?: string };
    readonly answer: string;
  };
  /** Get the description of this service as an OAuth client. */
  'GET /oauth/client-metadata.json': {
    readonly answer: { readonly client_id: string; readonly client_name: string; readonly client_uri: string; readonly redirect_uris: readonly string[]; readonly grant_types: readonly string[]; readonly response_types: readonly string[]; readonly token_endpoint_auth_method: string };
  };
  /** Create a connection with client credentials. */
  'POST /oauth2/auth/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with an API key. */
  'POST /api-auth/api-key/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with user name and password. */
  'POST /api-auth/basic/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with a token of an account. */
  'POST /auth/tba/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with a key that signs tokens. */
  'POST /auth/jwt/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with a login that yields a session. */
  'POST /auth/bill/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with fields that yield a token. */
  'POST /auth/two-step/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with credentials that sign requests. */
  'POST /auth/signature/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with no credentials. */
  'POST /auth/unauthenticated/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with a key of the App Store. */
  'POST /app-store-auth/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection with access keys of AWS. */
  'POST /auth/aws-sigv4/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** Create a connection that waits for an installation. */
  'POST /auth/oauth-outbound/{providerConfigKey}': {
    readonly params: { readonly providerConfigKey: string };
    readonly query?: { readonly params?: { readonly [name: string]: string } };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: Connected;
  };
  /** List the environments of the account. */
  'GET /environments': {
    readonly answer: { readonly data: readonly ({ readonly id: number; readonly name: string; readonly is_production: boolean })[] };
  };
  /** Create an environment. */
  'POST /environments': {
    readonly body: { readonly name: string; readonly is_production?: boolean };
    readonly answer: { readonly data: { readonly id: number; readonly name: string } };
  };
  /** Get an environment with its settings. */
  'GET /environments/{environmentId}': {
    readonly params: { readonly environmentId: number };
    readonly answer: { readonly data: Environment };
  };
  /** Update the settings of an environment. */
  'PATCH /environments/{environmentId}': {
    readonly params: { readonly environmentId: number };
    readonly body?: { readonly name?: string; readonly is_production?: boolean; readonly webhook_url?: string | null; readonly webhook_url_secondary?: string | null; readonly on_auth_creation?: boolean; readonly on_auth_refresh_error?: boolean; readonly on_sync_error?: boolean; readonly on_sync_completion_always?: boolean; readonly on_async_action_completion?: boolean; readonly webhook_retry_waits_seconds?: readonly number[]; readonly payload_mode?: 'plain' | 'sealed'; readonly retention?: { readonly prune_after_days?: number; readonly delete_after_days?: number }; readonly validation?: 'off' | 'warn' | 'error'; readonly input_validation?: 'warn' | 'error'; readonly keep_all_logs_minutes?: number; readonly connect_ui?: { readonly theme?: { readonly light?: { readonly primary: string }; readonly dark?: { readonly primary: string } }; readonly default_theme?: 'light' | 'dark' | 'system'; readonly show_watermark?: boolean; readonly logo?: string; readonly texts?: { readonly en?: { readonly [name: string]: string }; readonly de?: { readonly [name: string]: string }; readonly fr?: { readonly [name: string]: string }; readonly es?: { readonly [name: string]: string }; readonly ja?: { readonly [name: string]: string } } } };
    readonly answer: { readonly data: Environment };
  };
  /** Delete an environment. */
  'DELETE /environments/{environmentId}': {
    readonly params: { readonly environmentId: number };
    readonly answer: undefined;
  };
  /** Get the key that signs webhooks. */
  'GET /environment/webhook-signing-key': {
    readonly answer: { readonly data: WebhookSigningKeys };
  };
  /** Rotate the key that signs webhooks. */
  'POST /environment/webhook-signing-key/rotate': {
    readonly answer: { readonly data: { readonly webhook_signing_key: string } };
  };
  /** Preview what retention would prune and delete. */
  'GET /environments/{environmentId}/retention': {
    readonly params: { readonly environmentId: number };
    readonly answer: { readonly data: { readonly prune_after_days: number; readonly delete_after_days: number; readonly clock_is_ahead: boolean; readonly prune: { readonly records: number; readonly streams: number }; readonly delete: { readonly records: number; readonly streams: number }; readonly streams: readonly ({ readonly action: 'prune' | 'delete'; readonly records: number; readonly provider_config_key: string; readonly connection_id: string; readonly model: string; readonly variant: string; readonly last_run_at: string | null })[] } };
  };
  /** List the API keys of an environment, oldest first. */
  'GET /environment/api-keys': {
    readonly query: { readonly environment_id: number };
    readonly answer: { readonly data: readonly ApiKey[] };
  };
  /** Create an API key of an environment. */
  'POST /environment/api-keys': {
    readonly body: { readonly environment_id: number; readonly display_name: string; readonly scopes?: readonly ('environment:*' | 'environment:integrations:*' | 'environment:connections:*' | 'environment:connect_sessions:*' | 'environment:syncs:*' | 'environment:syncs:variant:*' | 'environment:functions:*' | 'environment:records:*' | 'environment:changes:*' | 'environment:sql:*' | 'environment:subscriptions:*' | 'environment:logs:*' | 'environment:actions:*' | 'environment:variables:*' | 'environment:webhook_endpoints:*' | 'environment:webhooks:*' | 'environment:alerts:*' | 'environment:typed_topics:*' | 'environment:webhook_signing_key:*' | 'environment:integrations:list' | 'environment:integrations:list_credentials' | 'environment:integrations:list_functions' | 'environment:integrations:read' | 'environment:integrations:read_credentials' | 'environment:integrations:create' | 'environment:integrations:update' | 'environment:integrations:delete' | 'environment:connections:list' | 'environment:connections:list_credentials' | 'environment:connections:read' | 'environment:connections:read_credentials' | 'environment:connections:create' | 'environment:connections:update' | 'environment:connections:delete' | 'environment:connect_sessions:write' | 'environment:syncs:read' | 'environment:syncs:execute' | 'environment:syncs:update' | 'environment:syncs:variant:create' | 'environment:syncs:variant:delete' | 'environment:deploy' | 'environment:functions:list' | 'environment:functions:read' | 'environment:functions:delete' | 'environment:functions:compile' | 'environment:functions:dryrun' | 'environment:records:read' | 'environment:records:write' | 'environment:changes:read' | 'environment:sql:read' | 'environment:sql:write' | 'environment:subscriptions:read' | 'environment:subscriptions:consume' | 'environment:subscriptions:write' | 'environment:logs:read' | 'environment:logs:keep' | 'environment:actions:execute' | 'environment:proxy' | 'environment:variables:read' | 'environment:variables:write' | 'environment:webhook_endpoints:read' | 'environment:webhook_endpoints:write' | 'environment:webhooks:read' | 'environment:webhooks:resend' | 'environment:alerts:read' | 'environment:alerts:write' | 'environment:typed_topics:read' | 'environment:typed_topics:write' | 'environment:webhook_signing_key:read' | 'environment:webhook_signing_key:rotate' | 'environment:mcp')[]; readonly profile?: 'auth' | 'deploy' | 'backend'; readonly expires_at?: string | null };
    readonly answer: { readonly data: ApiKeyWithSecret };
  };
  /** Delete an API key of an environment. */
  'DELETE /environment/api-keys': {
    readonly body: { readonly environment_id: number; readonly key_id: string };
    readonly answer: Success;
  };
  /** Reveal the secret of an API key. */
  'POST /environment/api-keys/{id}/reveal': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: ApiKeyWithSecret };
  };
  /** Give an API key of an environment a new secret. */
  'POST /environment/api-keys/{id}/rotate': {
    readonly params: { readonly id: string };
    readonly body?: { readonly overlap_seconds?: number; readonly expires_at?: string | null };
    readonly answer: { readonly data: ApiKeyWithSecret };
  };
  /** End the secret that a rotation replaced, before its time. */
  'DELETE /environment/api-keys/{id}/previous-secret': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** List the API keys of the account, oldest first. */
  'GET /account/api-keys': {
    readonly answer: { readonly data: readonly ApiKey[] };
  };
  /** Create an API key of the account. */
  'POST /account/api-keys': {
    readonly body: { readonly display_name: string; readonly expires_at?: string | null };
    readonly answer: { readonly data: ApiKeyWithSecret };
  };
  /** Delete an API key of the account. */
  'DELETE /account/api-keys': {
    readonly body: { readonly key_id: string };
    readonly answer: Success;
  };
  /** Give an API key of the account a new secret. */
  'POST /account/api-keys/{id}/rotate': {
    readonly params: { readonly id: string };
    readonly body?: { readonly overlap_seconds?: number; readonly expires_at?: string | null };
    readonly answer: { readonly data: ApiKeyWithSecret };
  };
  /** End the secret that a rotation of an account key replaced, before its time. */
  'DELETE /account/api-keys/{id}/previous-secret': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** Sign a browser in to the console. */
  'POST /console/session': {
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string; readonly 'user-agent'?: string };
    readonly body: { readonly key?: string; readonly code?: string };
    readonly answer: ConsoleSession;
  };
  /** Get the session of the console. */
  'GET /console/session': {
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string };
    readonly answer: ConsoleSession;
  };
  /** Sign the browser out of the console. */
  'DELETE /console/session': {
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string; readonly 'svc-csrf-token'?: string };
    readonly answer: undefined;
  };
  /** Remove a key from the session of the console. */
  'DELETE /console/session/keys/{keyId}': {
    readonly params: { readonly keyId: string };
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string; readonly 'svc-csrf-token'?: string };
    readonly answer: undefined;
  };
  /** List the sessions of the person who is signed in, newest first. */
  'GET /console/sessions': {
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string };
    readonly answer: { readonly data: readonly ListedConsoleSession[] };
  };
  /** End a session of the person who is signed in. */
  'DELETE /console/sessions/{id}': {
    readonly params: { readonly id: string };
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string; readonly 'svc-csrf-token'?: string };
    readonly answer: undefined;
  };
  /** List the sessions of the console, newest first. */
  'GET /account/sessions': {
    readonly query?: { readonly person_id?: string };
    readonly answer: { readonly data: readonly ListedConsoleSession[] };
  };
  /** End a session of the console. */
  'DELETE /account/sessions/{id}': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** Create a link that signs a browser in to the console. */
  'POST /console/codes': {
    readonly answer: { readonly data: ConsoleCode };
  };
  /** List the people, by e-mail address. */
  'GET /people': {
    readonly answer: { readonly data: readonly Person[] };
  };
  /** Invite a person. */
  'POST /people': {
    readonly body: { readonly email: string; readonly display_name: string; readonly roles: readonly RoleGrant[] };
    readonly answer: { readonly data: { readonly person: Person; readonly link: { readonly url: string; readonly expires_at: string }; readonly is_mailed: boolean } };
  };
  /** Change the name or roles of a person, or whether the person may sign in. */
  'PATCH /people/{id}': {
    readonly params: { readonly id: string };
    readonly body?: { readonly display_name?: string; readonly roles?: readonly RoleGrant[]; readonly is_active?: boolean };
    readonly answer: { readonly data: Person };
  };
  /** Make a link that signs a person in once. */
  'POST /people/{id}/sign-in-links': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly person: Person; readonly link: { readonly url: string; readonly expires_at: string }; readonly is_mailed: boolean } };
  };
  /** End all sessions of a person. */
  'DELETE /people/{id}/sessions': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly ended: number } };
  };
  /** Get the ways to sign in to the console. */
  'GET /console/sign-in': {
    readonly answer: { readonly data: { readonly identity_provider: { readonly name: string } | null } };
  };
  /** Start a sign-in with the identity provider. */
  'GET /console/oidc/start': {
    readonly query?: { readonly return_to?: string };
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string };
    readonly answer: never;
  };
  /** Finish a sign-in with the identity provider. */
  'GET /console/oidc/callback': {
    readonly headers?: { readonly cookie?: string; readonly host?: string; readonly origin?: string; readonly 'sec-fetch-site'?: string; readonly 'user-agent'?: string };
    readonly answer: never;
  };
  /** List the variables of the environment. */
  'GET /environment-variables': {
    readonly answer: readonly Variable[];
  };
  /** Set a variable of the environment. */
  'PUT /environment-variables/{name}': {
    readonly params: { readonly name: string };
    readonly body: { readonly value: string };
    readonly answer: Variable;
  };
  /** Delete a variable of the environment. */
  'DELETE /environment-variables/{name}': {
    readonly params: { readonly name: string };
    readonly answer: Success;
  };
  /** List records in the order of their modification. */
  'GET /records': {
    readonly query: { readonly model: string; readonly variant?: string; readonly limit?: number; readonly cursor?: string; readonly modified_after?: string; readonly delta?: string; readonly filter?: string; readonly ids?: readonly string[]; readonly as_of?: string };
    readonly headers: { readonly 'connection-id': string; readonly 'provider-config-key': string };
    readonly answer: { readonly records: readonly Record[]; readonly next_cursor: string | null };
  };
  /** Prune the payloads of records up to a cursor. */
  'PATCH /records/prune': {
    readonly headers: { readonly 'connection-id': string; readonly 'provider-config-key': string };
    readonly body: { readonly model: string; readonly variant?: string; readonly until_cursor: string; readonly limit?: number };
    readonly answer: { readonly count: number; readonly has_more: boolean };
  };
  /** List the changes of a record, newest first. */
  'GET /records/history': {
    readonly query: { readonly model: string; readonly variant?: string; readonly id: string; readonly cursor?: string; readonly limit?: number };
    readonly headers: { readonly 'connection-id': string; readonly 'provider-config-key': string };
    readonly answer: { readonly id: string; readonly changes: readonly RecordChange[]; readonly next_cursor: string | null; readonly earlier_changes: number | null };
  };
  /** List the functions of an integration. */
  'GET /integrations/{uniqueKey}/functions': {
    readonly params: { readonly uniqueKey: string };
    readonly query?: { readonly type?: 'sync' | 'action' | 'on-event' | 'on-change'; readonly search?: string; readonly page?: number; readonly limit?: number };
    readonly answer: { readonly data: readonly Function[]; readonly pagination: { readonly total: number; readonly page: number; readonly limit: number } };
  };
  /** Get a function of an integration. */
  'GET /integrations/{uniqueKey}/functions/{name}': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query?: { readonly type?: 'sync' | 'action' | 'on-event' | 'on-change' };
    readonly answer: { readonly data: Function };
  };
  /** Delete a function. */
  'DELETE /integrations/{uniqueKey}/functions/{name}': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query: { readonly type: 'sync' | 'action' | 'on-event' | 'on-change' };
    readonly answer: { readonly data: { readonly success: true } };
  };
  /** Record the calls of a function, or stop it. */
  'PUT /integrations/{uniqueKey}/functions/{name}/recording': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query: { readonly type: 'sync' | 'action' | 'on-event' | 'on-change' };
    readonly body: { readonly record_calls: boolean };
    readonly answer: { readonly data: Function };
  };
  /** Get the TypeScript source of a function. */
  'GET /integrations/{uniqueKey}/functions/{name}/code': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query?: { readonly type?: 'sync' | 'action' | 'on-event' | 'on-change' };
    readonly answer: { readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly code: string };
  };
  /** Get the functions of the environment. */
  'GET /scripts/config': {
    readonly query?: { readonly format?: 'svc' | 'openai' };
    readonly answer: readonly ({ readonly providerConfigKey: string; readonly provider: string | null; readonly syncs: readonly ConfiguredFunction[]; readonly actions: readonly ConfiguredFunction[]; readonly 'on-events': readonly ConfiguredFunction[]; readonly 'on-changes': readonly ConfiguredFunction[] })[] | { readonly data: readonly ({ readonly name: string; readonly description: string; readonly parameters: { readonly type: 'object'; readonly properties: { readonly [name: string]: unknown }; readonly required: readonly string[] } })[] };
  };
  /** Compile a function. */
  'POST /functions/compile': {
    readonly body: { readonly code: string };
    readonly answer: { readonly bundle_size_bytes: number; readonly bundled_js: string; readonly compiled_at: string };
  };
  /** Start a dry run of a function. */
  'POST /functions/dryruns': {
    readonly body: { readonly integration_id: string; readonly function_type: 'sync' | 'action'; readonly code: string; readonly connection_id: string; readonly input?: unknown; readonly metadata?: { readonly [name: string]: unknown }; readonly checkpoint?: { readonly [name: string]: unknown }; readonly last_sync_date?: string };
    readonly answer: { readonly id: string; readonly status: 'waiting' | 'running' | 'success' | 'failed'; readonly created_at: string };
  };
  /** Get a dry run. */
  'GET /functions/dryruns/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly id: string; readonly status: 'waiting' | 'running' | 'success' | 'failed'; readonly integration_id: string; readonly function_type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly created_at: string; readonly updated_at: string; readonly started_at?: string; readonly completed_at?: string; readonly duration_ms?: number; readonly output?: unknown; readonly result?: unknown; readonly error?: { readonly code: string; readonly message: string; readonly payload?: unknown } };
  };
  /** Replay a recorded run. */
  'POST /runs/{id}/replays': {
    readonly params: { readonly id: string };
    readonly body?: { readonly code?: string; readonly imports?: { readonly [name: string]: string } };
    readonly answer: { readonly id: string; readonly attempt: number; readonly recorded_bytes: number; readonly recorded_calls: number; readonly same_code: boolean; readonly created_at: string };
  };
  /** Set how many runs of a function a connection has at the same time. */
  'PUT /integrations/{uniqueKey}/functions/{name}/concurrency': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query: { readonly type: 'sync' | 'action' | 'on-event' | 'on-change' };
    readonly body: { readonly concurrency: number | null };
    readonly answer: { readonly data: Function };
  };
  /** Get what waits for runs of a function. */
  'GET /integrations/{uniqueKey}/functions/{name}/queue': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly query: { readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly connection_id?: string };
    readonly answer: { readonly data: { readonly concurrency: number | null; readonly waiting: number; readonly connections: readonly ({ readonly connection_id: string; readonly running: readonly string[]; readonly waiting: number; readonly next: readonly string[] })[]; readonly joining: readonly ({ readonly connection_id: string; readonly run_id: string; readonly webhooks: number; readonly starts_at: string })[] } };
  };
  /** Join the webhooks that start runs of a sync. */
  'PUT /integrations/{uniqueKey}/functions/{name}/debounce': {
    readonly params: { readonly uniqueKey: string; readonly name: string };
    readonly body: { readonly debounce: { readonly seconds: number; readonly max_wait_seconds: number; readonly payload: 'last' | 'all' } | null };
    readonly answer: { readonly data: Function };
  };
  /** Show which functions keep log lines of every level. */
  'GET /logs/keep': {
    readonly answer: { readonly data: KeptLogs };
  };
  /** Keep log lines of every level for some minutes. */
  'POST /logs/keep': {
    readonly body: { readonly minutes: number; readonly functions?: readonly ({ readonly integration_id: string; readonly type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly name: string })[] };
    readonly answer: { readonly data: KeptLogs };
  };
  /** Preview a deployment. */
  'POST /functions/deployments/bundle/preview': {
    readonly headers?: { readonly 'user-agent'?: string };
    readonly body: { readonly reconciliationScope: EnvironmentScope | IntegrationScope | IntegrationsScope | FunctionScope; readonly functions: readonly (SyncToCompare | ActionToCompare | OnEventToCompare | OnChangeToCompare)[] };
    readonly answer: DeployPreview;
  };
  /** Deploy a project of functions. */
  'POST /functions/deployments/bundle': {
    readonly headers?: { readonly 'user-agent'?: string };
    readonly body: { readonly reconciliationScope: EnvironmentScope | IntegrationScope | IntegrationsScope | FunctionScope; readonly functions: readonly (SyncToDeploy | ActionToDeploy | OnEventToDeploy | OnChangeToDeploy)[] };
    readonly answer: DeployPlan;
  };
  /** Deploy one function from its source, or from a template. */
  'POST /functions/deployments': {
    readonly body: FunctionDeployment | TemplateDeployment;
    readonly answer: { readonly id: string; readonly status: 'waiting' | 'running' | 'success' | 'failed'; readonly created_at: string };
  };
  /** Get a deployment from source. */
  'GET /functions/deployments/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly id: string; readonly status: 'waiting' | 'running' | 'success' | 'failed'; readonly integration_id: string; readonly function_name: string; readonly function_type: 'sync' | 'action' | 'on-event' | 'on-change'; readonly created_at: string; readonly updated_at: string; readonly started_at?: string; readonly completed_at?: string; readonly duration_ms?: number; readonly deployed?: boolean; readonly deployed_functions?: readonly ({ readonly name: string; readonly version: string })[]; readonly error?: { readonly code: string; readonly message: string; readonly fix: string } };
  };
  /** Trigger syncs once. */
  'POST /sync/trigger': {
    readonly headers?: { readonly 'provider-config-key'?: string; readonly 'connection-id'?: string };
    readonly body: { readonly syncs: readonly SyncName[]; readonly provider_config_key?: string; readonly connection_id?: string; readonly opts?: { readonly reset?: boolean; readonly emptyCache?: boolean }; readonly sync_mode?: 'incremental' | 'full_refresh' | 'full_refresh_and_clear_cache'; readonly full_resync?: boolean };
    readonly answer: Success;
  };
  /** Pause the schedules of syncs. */
  'POST /sync/pause': {
    readonly body: { readonly syncs: readonly SyncName[]; readonly provider_config_key: string; readonly connection_id?: string };
    readonly answer: Success;
  };
  /** Start the schedules of syncs, each with a run. */
  'POST /sync/start': {
    readonly body: { readonly syncs: readonly SyncName[]; readonly provider_config_key: string; readonly connection_id?: string };
    readonly answer: Success;
  };
  /** Get the status of syncs. */
  'GET /sync/status': {
    readonly query: { readonly syncs: string; readonly provider_config_key: string; readonly connection_id?: string };
    readonly answer: { readonly syncs: readonly SyncStatus[] };
  };
  /** Set the frequency of a sync of a connection. */
  'PUT /sync/update-connection-frequency': {
    readonly body: { readonly sync_name: string; readonly sync_variant?: string; readonly provider_config_key: string; readonly connection_id: string; readonly frequency: string | null };
    readonly answer: { readonly frequency: string };
  };
  /** Create a variant of a sync. */
  'POST /sync/{name}/variant/{variant}': {
    readonly params: { readonly name: string; readonly variant: string };
    readonly body: { readonly provider_config_key: string; readonly connection_id: string };
    readonly answer: { readonly id: string; readonly name: string; readonly variant: string };
  };
  /** Delete a variant of a sync. */
  'DELETE /sync/{name}/variant/{variant}': {
    readonly params: { readonly name: string; readonly variant: string };
    readonly body: { readonly provider_config_key: string; readonly connection_id: string };
    readonly answer: Success;
  };
  /** List runs, newest first. */
  'GET /runs': {
    readonly query?: { readonly kind?: readonly ('sync' | 'action' | 'on-event' | 'on-change' | 'webhook' | 'dryrun' | 'revert')[]; readonly status?: readonly ('queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out' | 'interrupted')[]; readonly function?: string; readonly provider_config_key?: string; readonly connection_id?: string; readonly variant?: string; readonly search?: string; readonly since?: string; readonly until?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly Run[]; readonly pagination: { readonly cursor: string | null } };
  };
  /** Get a run with its timeline. */
  'GET /runs/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly id: string; readonly kind: string; readonly function: string; readonly function_version: string; readonly provider_config_key: string; readonly connection_id: string; readonly variant: string; readonly models: readonly string[]; readonly trigger: string | null; readonly status: string; readonly waiting: { readonly concurrency: number; readonly position: number } | null; readonly attempt: number; readonly queued_at: string; readonly started_at: string | null; readonly ended_at: string | null; readonly duration_ms: number | null; readonly counts: { readonly [name: string]: { readonly added: number; readonly updated: number; readonly deleted: number; readonly unchanged: number } }; readonly checkpoint_from: unknown; readonly checkpoint_to: unknown; readonly records_readable: boolean | null; readonly error: { readonly code: string; readonly message: string; readonly location: string | null; readonly fix: string } | null; readonly log_id: string; readonly failure: RunFailure | null; readonly timeline: readonly ({ readonly at: string; readonly attempt: number; readonly what: string; readonly method?: string; readonly path?: string; readonly status?: number; readonly duration_ms?: number; readonly model?: string; readonly count?: number; readonly level?: string; readonly message?: string })[]; readonly events: readonly ({ readonly topic: string; readonly model: string | null; readonly partition: number; readonly first_offset: number | null; readonly last_offset: number; readonly count: number })[] } };
  };
  /** Get the input of a run of an action or on-change function. */
  'GET /runs/{id}/input': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly stored: boolean; readonly input: unknown } };
  };
  /** Cancel a run. */
  'POST /runs/{id}/cancel': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** Revert what a run did to records. */
  'POST /runs/{id}/revert': {
    readonly params: { readonly id: string };
    readonly body?: { readonly dry_run?: boolean };
    readonly answer: { readonly data: { readonly run_id: string; readonly revert_run_id: string | null; readonly dry_run: boolean; readonly counts: { readonly [name: string]: { readonly deleted: number; readonly updated: number; readonly restored: number; readonly unchanged: number; readonly left: number } }; readonly left: readonly ({ readonly model: string; readonly id: string; readonly reason: 'changed_since' | 'former_pruned' | 'former_gone' | 'purged'; readonly actor: string | null; readonly run_id: string | null })[] } };
  };
  /** Run an action. */
  'POST /action/trigger': {
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly 'x-async'?: boolean; readonly 'x-max-retries'?: number };
    readonly body: { readonly action_name: string; readonly input?: unknown; readonly [name: string]: unknown };
    readonly answer: unknown | QueuedAction;
  };
  /** Get the output of an asynchronous action. */
  'GET /action/{id}': {
    readonly params: { readonly id: string };
    readonly answer: unknown;
  };
  /** List operations of the log, newest first. */
  'POST /logs/operations': {
    readonly body?: { readonly search?: string; readonly limit?: number; readonly cursor?: string | null; readonly states?: readonly ('all' | 'waiting' | 'running' | 'success' | 'failed' | 'timeout' | 'cancelled')[]; readonly types?: readonly string[]; readonly integrations?: readonly string[]; readonly connections?: readonly string[]; readonly syncs?: readonly string[]; readonly levels?: readonly ('debug' | 'info' | 'warn' | 'error')[]; readonly period?: { readonly from: string; readonly to: string } };
    readonly answer: { readonly data: readonly LogOperation[]; readonly pagination: { readonly total: number; readonly cursor: string | null } };
  };
  /** Get an operation of the log. */
  'GET /logs/operations/{operationId}': {
    readonly params: { readonly operationId: string };
    readonly answer: { readonly data: LogOperation };
  };
  /** List the messages of an operation, newest first. */
  'POST /logs/messages': {
    readonly body: { readonly operationId: string; readonly limit?: number; readonly search?: string; readonly states?: readonly ('all' | 'waiting' | 'running' | 'success' | 'failed' | 'timeout' | 'cancelled')[]; readonly levels?: readonly ('debug' | 'info' | 'warn' | 'error')[]; readonly cursorBefore?: string | null; readonly cursorAfter?: string | null; readonly period?: { readonly from: string; readonly to: string } };
    readonly answer: { readonly data: readonly LogMessage[]; readonly pagination: { readonly total: number; readonly cursorBefore: string | null; readonly cursorAfter: string | null } };
  };
  /** List events of the audit, newest first. */
  'GET /audit': {
    readonly query?: { readonly environment?: string; readonly actor?: string; readonly action?: string; readonly target?: string; readonly outcome?: string; readonly from?: string; readonly to?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly AuditEvent[]; readonly next_cursor: string | null };
  };
  /** List the chains of the audit. */
  'GET /audit/chains': {
    readonly answer: { readonly data: readonly ({ readonly environment: string; readonly name: string | null; readonly length: number; readonly hash: string })[] };
  };
  /** Get the metrics of this process. */
  'GET /metrics': {
    readonly answer: string;
  };
  /** Get statistics of the environment. */
  'GET /statistics': {
    readonly query?: { readonly range?: '1h' | '24h' | '7d' };
    readonly answer: { readonly data: Statistics };
  };
  /** List the projections. */
  'GET /projections': {
    readonly answer: { readonly data: readonly Projection[] };
  };
  /** Get a projection. */
  'GET /projections/{name}': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: Projection };
  };
  /** Start to rebuild a projection. */
  'POST /projections/{name}/rebuild': {
    readonly params: { readonly name: string };
    readonly body?: { readonly pace_percent?: number };
    readonly answer: { readonly data: Projection };
  };
  /** Start to verify a rebuilt generation. */
  'POST /projections/{name}/verify': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: Projection };
  };
  /** Switch to the verified generation. */
  'POST /projections/{name}/switch': {
    readonly params: { readonly name: string };
    readonly body?: { readonly force?: boolean };
    readonly answer: { readonly data: Projection };
  };
  /** Switch back to the former generation. */
  'POST /projections/{name}/rollback': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: Projection };
  };
  /** Pause a generation: the one being built, or the given one. */
  'POST /projections/{name}/pause': {
    readonly params: { readonly name: string };
    readonly body?: { readonly generation?: number };
    readonly answer: { readonly data: Projection };
  };
  /** Resume a paused generation at its position. */
  'POST /projections/{name}/resume': {
    readonly params: { readonly name: string };
    readonly body?: { readonly generation?: number };
    readonly answer: { readonly data: Projection };
  };
  /** Drop a generation that is not read. */
  'DELETE /projections/{name}/generations/{generation}': {
    readonly params: { readonly name: string; readonly generation: number };
    readonly answer: { readonly data: Projection };
  };
  /** List the projections that projects have deployed. */
  'GET /custom-projections': {
    readonly answer: { readonly data: readonly CustomProjection[] };
  };
  /** Deploy a projection of a project. */
  'PUT /custom-projections/{name}': {
    readonly params: { readonly name: string };
    readonly body: { readonly version?: string; readonly description?: string; readonly models: readonly string[]; readonly integrations?: readonly string[] | null; readonly row: { readonly [name: string]: unknown }; readonly key?: readonly string[]; readonly bundle: string; readonly source: string };
    readonly answer: { readonly data: CustomProjection };
  };
  /** Delete a projection of a project. */
  'DELETE /custom-projections/{name}': {
    readonly params: { readonly name: string };
    readonly answer: Success;
  };
  /** Get the public topics as an AsyncAPI document. */
  'GET /asyncapi.json': {
    readonly answer: { readonly [name: string]: unknown };
  };
  /** List the public topics. */
  'GET /topics': {
    readonly answer: { readonly data: readonly Topic[] };
  };
  /** Get a public topic. */
  'GET /topics/{name}': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: TopicWithSchema };
  };
  /** Search the messages of a topic. */
  'GET /topics/{name}/messages': {
    readonly params: { readonly name: string };
    readonly query?: { readonly partition?: number; readonly offset?: number; readonly since?: string; readonly key?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly TopicMessage[]; readonly ranges: readonly ({ readonly partition: number; readonly start: number; readonly end: number })[]; readonly next_cursor: string | null };
  };
  /** List the consumer groups of the service. */
  'GET /consumer-groups': {
    readonly answer: { readonly data: readonly ConsumerGroup[] };
  };
  /** Get a consumer group. */
  'GET /consumer-groups/{name}': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: ConsumerGroup };
  };
  /** Reset the position of a consumer group. */
  'POST /consumer-groups/{name}/reset': {
    readonly params: { readonly name: string };
    readonly body: { readonly to: 'start' | 'end' | TimePosition | OffsetPosition; readonly partitions?: readonly number[]; readonly dry_run?: boolean; readonly repeat?: boolean; readonly skip?: boolean };
    readonly answer: { readonly data: ConsumerGroupReset };
  };
  /** List dead letters, newest first. */
  'GET /dead-letters': {
    readonly query?: { readonly state?: 'parked' | 'retrying' | 'resolved' | 'dropped'; readonly consumer?: string; readonly topic?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly DeadLetter[]; readonly next_cursor: string | null };
  };
  /** Get a dead letter with its message. */
  'GET /dead-letters/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: DeadLetterWithMessage };
  };
  /** Drop a dead letter. */
  'DELETE /dead-letters/{id}': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** Retry a dead letter. */
  'POST /dead-letters/{id}/retry': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: DeadLetter };
  };
  /** Get the connect page. */
  'GET /connect/ui/': {
    readonly answer: string;
  };
  /** Get a script or style of the connect page. */
  'GET /connect/ui/assets/{file}': {
    readonly params: { readonly file: string };
    readonly headers?: { readonly 'accept-encoding'?: string };
    readonly answer: unknown;
  };
  /** Get the script that embeds the connect page. */
  'GET /connect/embed.js': {
    readonly headers?: { readonly 'accept-encoding'?: string; readonly 'if-none-match'?: string };
    readonly answer: string;
  };
  /** List the root keys. */
  'GET /root-keys': {
    readonly answer: { readonly data: RootKeys };
  };
  /** Start to wrap every data key with the first root key. */
  'POST /root-keys/rewrap': {
    readonly answer: { readonly data: RootKeys };
  };
  /** Call the MCP server. */
  'POST /mcp': {
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly 'mcp-session-id'?: string; readonly 'mcp-protocol-version'?: string };
    readonly body?: { readonly [name: string]: unknown } | readonly ({ readonly [name: string]: unknown })[];
    readonly answer: JsonRpcResponse | readonly JsonRpcResponse[] | undefined;
  };
  /** Refused: the MCP server has no stream of events. */
  'GET /mcp': {
    readonly answer: never;
  };
  /** Call the MCP server that manages the environment. */
  'POST /mcp/management': {
    readonly query?: { readonly write?: boolean };
    readonly headers?: { readonly 'mcp-session-id'?: string; readonly 'mcp-protocol-version'?: string };
    readonly body?: { readonly [name: string]: unknown };
    readonly answer: JsonRpcResponse | undefined;
  };
  /** Refused: the MCP server that manages has no stream of events. */
  'GET /mcp/management': {
    readonly query?: { readonly write?: boolean };
    readonly answer: never;
  };
  /** Get this API as an OpenAPI 3.1 document. */
  'GET /openapi.json': {
    readonly answer: { readonly [name: string]: unknown };
  };
  /** Get the API reference. */
  'GET /docs/api': {
    readonly answer: string;
  };
  /** Get a script or style of the API reference. */
  'GET /docs/api/assets/{file}': {
    readonly params: { readonly file: string };
    readonly headers?: { readonly 'accept-encoding'?: string };
    readonly answer: unknown;
  };
  /** Get this API as text for language models. */
  'GET /llms.txt': {
    readonly answer: string;
  };
  /** List the webhook endpoints. */
  'GET /webhook-endpoints': {
    readonly answer: { readonly data: readonly WebhookEndpoint[] };
  };
  /** Create a webhook endpoint. */
  'POST /webhook-endpoints': {
    readonly body: { readonly url: string; readonly display_name?: string; readonly kinds?: readonly ('auth' | 'sync' | 'async_action' | 'forward' | 'test')[] | null; readonly provider_config_key?: string | null; readonly connection_id?: string | null; readonly enabled?: boolean; readonly headers?: { readonly [name: string]: string } | null; readonly oauth?: { readonly token_url: string; readonly client_id: string; readonly client_secret: string; readonly client_authentication?: 'basic' | 'body'; readonly scopes?: readonly string[]; readonly audience?: string | null } | null; readonly client_certificate?: { readonly certificate: string; readonly private_key: string } | null; readonly retry_waits_seconds?: readonly number[] | null; readonly filter?: { readonly match: 'all' | 'any'; readonly conditions: readonly ({ readonly path: string; readonly op: 'equals' | 'not_equals' | 'in' | 'not_in' | 'greater_than' | 'less_than' | 'starts_with' | 'ends_with' | 'contains' | 'exists' | 'not_exists'; readonly value?: string | number | boolean | null | readonly (string | number | boolean | null)[] })[] } | null; readonly ordered?: boolean; readonly disable_after_days?: number | null };
    readonly answer: { readonly data: WebhookEndpoint };
  };
  /** Update a webhook endpoint. */
  'PATCH /webhook-endpoints/{id}': {
    readonly params: { readonly id: string };
    readonly body?: { readonly url?: string; readonly display_name?: string; readonly kinds?: readonly ('auth' | 'sync' | 'async_action' | 'forward' | 'test')[] | null; readonly provider_config_key?: string | null; readonly connection_id?: string | null; readonly enabled?: boolean; readonly headers?: { readonly [name: string]: string } | null; readonly oauth?: { readonly token_url: string; readonly client_id: string; readonly client_secret: string; readonly client_authentication?: 'basic' | 'body'; readonly scopes?: readonly string[]; readonly audience?: string | null } | null; readonly client_certificate?: { readonly certificate: string; readonly private_key: string } | null; readonly retry_waits_seconds?: readonly number[] | null; readonly filter?: { readonly match: 'all' | 'any'; readonly conditions: readonly ({ readonly path: string; readonly op: 'equals' | 'not_equals' | 'in' | 'not_in' | 'greater_than' | 'less_than' | 'starts_with' | 'ends_with' | 'contains' | 'exists' | 'not_exists'; readonly value?: string | number | boolean | null | readonly (string | number | boolean | null)[] })[] } | null; readonly ordered?: boolean; readonly disable_after_days?: number | null };
    readonly answer: { readonly data: WebhookEndpoint };
  };
  /** Delete a webhook endpoint. */
  'DELETE /webhook-endpoints/{id}': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** Send a test webhook to an endpoint. */
  'POST /webhook-endpoints/{id}/test': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly message_ids: readonly string[] } };
  };
  /** Get the key that signs webhooks to an endpoint. */
  'GET /webhook-endpoints/{id}/signing-key': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: WebhookEndpointSigningKeys };
  };
  /** Give an endpoint a signing key of its own, or another one. */
  'POST /webhook-endpoints/{id}/signing-key/rotate': {
    readonly params: { readonly id: string };
    readonly body?: { readonly overlap_seconds?: number };
    readonly answer: { readonly data: WebhookEndpointSigningKeys };
  };
  /** List webhook messages, newest first. */
  'GET /webhook-messages': {
    readonly query?: { readonly kind?: 'auth' | 'sync' | 'async_action' | 'forward' | 'test'; readonly state?: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'filtered'; readonly endpoint_id?: string; readonly provider_config_key?: string; readonly connection_id?: string; readonly since?: string; readonly until?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly WebhookMessage[]; readonly next_cursor: string | null };
  };
  /** Get a webhook message. */
  'GET /webhook-messages/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly id: string; readonly kind: string | null; readonly payload: unknown; readonly deliveries: readonly ({ readonly id: string; readonly endpoint_id: string; readonly kind: string; readonly state: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'filtered'; readonly provider_config_key: string | null; readonly connection_id: string | null; readonly run_id: string | null; readonly attempts: number; readonly status: number | null; readonly error_code: string | null; readonly fix: string | null; readonly next_attempt_at: string | null; readonly replay_of: string | null; readonly created_at: string; readonly updated_at: string; readonly attempt_list: readonly ({ readonly attempt: number; readonly at: string; readonly success: boolean; readonly status: number | null; readonly error_code: string | null; readonly fix: string | null; readonly latency_ms: number | null; readonly next_attempt_at: string | null })[] })[] } };
  };
  /** Resend a webhook message. */
  'POST /webhook-messages/{id}/resend': {
    readonly params: { readonly id: string };
    readonly body?: { readonly endpoint_id?: string };
    readonly answer: { readonly data: { readonly message_ids: readonly string[] } };
  };
  /** Resend failed webhook messages. */
  'POST /webhook-messages/recover': {
    readonly body: { readonly since: string; readonly endpoint_id?: string; readonly dry_run?: boolean; readonly limit?: number };
    readonly answer: { readonly data: { readonly dry_run: boolean; readonly matched: number; readonly replayed: number; readonly gone: number; readonly message_ids: readonly string[]; readonly has_more: boolean; readonly last_created_at: string | null } };
  };
  /** Replay webhook messages. */
  'POST /webhook-messages/replay': {
    readonly body: { readonly ids?: readonly string[]; readonly kind?: 'auth' | 'sync' | 'async_action' | 'forward' | 'test'; readonly state?: 'pending' | 'delivered' | 'failed' | 'cancelled' | 'filtered'; readonly endpoint_id?: string; readonly provider_config_key?: string; readonly connection_id?: string; readonly since?: string; readonly until?: string; readonly dry_run?: boolean; readonly limit?: number };
    readonly answer: { readonly data: { readonly dry_run: boolean; readonly matched: number; readonly replayed: number; readonly gone: number; readonly message_ids: readonly string[]; readonly has_more: boolean; readonly last_created_at: string | null } };
  };
  /** List webhooks of providers, newest first. */
  'GET /webhook-deliveries': {
    readonly query?: { readonly disposition?: 'received' | 'accepted' | 'rejected' | 'unmatched' | 'duplicate' | 'reprocessed' | 'refused'; readonly provider_config_key?: string; readonly connection_id?: string; readonly since?: string; readonly until?: string; readonly cursor?: string; readonly limit?: number };
    readonly answer: { readonly data: readonly WebhookDelivery[]; readonly next_cursor: string | null };
  };
  /** Get a webhook of a provider. */
  'GET /webhook-deliveries/{id}': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly id: string; readonly provider_config_key: string; readonly disposition: 'received' | 'accepted' | 'rejected' | 'unmatched' | 'duplicate' | 'reprocessed' | 'refused'; readonly reason: string | null; readonly status: number | null; readonly type: string | null; readonly provider_delivery_id: string | null; readonly connection_ids: readonly string[]; readonly run_ids: readonly string[]; readonly headers: { readonly [name: string]: string }; readonly refused_count: number | null; readonly received_at: string; readonly decided_at: string | null; readonly body: string | null } };
  };
  /** Process a webhook of a provider again. */
  'POST /webhook-deliveries/{id}/process': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: WebhookDelivery };
  };
  /** Check whether this gateway has the demo provider. */
  'GET /demo': {
    readonly answer: { readonly data: Demo };
  };
  /** Set up the demo. */
  'POST /demo': {
    readonly answer: { readonly data: DemoSetUp };
  };
  /** List the models with a topic of their own. */
  'GET /typed-topics': {
    readonly answer: { readonly data: readonly TypedTopic[] };
  };
  /** Create a typed topic for a model. */
  'PUT /typed-topics/{integration}/{model}': {
    readonly params: { readonly integration: string; readonly model: string };
    readonly query?: { readonly before?: 'true' | 'false'; readonly ts_ns?: 'true' | 'false'; readonly key?: 'text' | 'struct'; readonly snapshot?: string; readonly heartbeat_s?: number };
    readonly answer: { readonly data: TypedTopic };
  };
  /** Stop the typed topic of a model. */
  'DELETE /typed-topics/{integration}/{model}': {
    readonly params: { readonly integration: string; readonly model: string };
    readonly answer: Success;
  };
  /** Read the changes of all records. */
  'GET /changes': {
    readonly query?: { readonly provider_config_key?: string; readonly connection_id?: string; readonly model?: string; readonly variant?: string; readonly cursor?: string; readonly from?: 'start' | 'end' | string; readonly limit?: number; readonly wait_s?: number };
    readonly answer: { readonly changes: readonly Change[]; readonly cursor: string; readonly has_more: boolean };
  };
  /** List the subscriptions. */
  'GET /subscriptions': {
    readonly answer: { readonly data: readonly Subscription[] };
  };
  /** Read a subscription. */
  'GET /subscriptions/{name}': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: Subscription };
  };
  /** Create a subscription. */
  'PUT /subscriptions/{name}': {
    readonly params: { readonly name: string };
    readonly body?: { readonly provider_config_key?: string; readonly connection_id?: string; readonly model?: string; readonly variant?: string; readonly from?: 'start' | 'end' | string; readonly target?: SubscriptionTargetToSet };
    readonly answer: { readonly data: Subscription };
  };
  /** Delete a subscription with its position. */
  'DELETE /subscriptions/{name}': {
    readonly params: { readonly name: string };
    readonly answer: Success;
  };
  /** Read the next changes of a subscription. */
  'GET /subscriptions/{name}/changes': {
    readonly params: { readonly name: string };
    readonly query?: { readonly cursor?: string; readonly limit?: number; readonly wait_s?: number };
    readonly answer: { readonly changes: readonly Change[]; readonly cursor: string; readonly has_more: boolean };
  };
  /** Commit the position of a subscription. */
  'POST /subscriptions/{name}/commit': {
    readonly params: { readonly name: string };
    readonly body: { readonly cursor: string };
    readonly answer: { readonly data: Subscription };
  };
  /** Move a subscription. */
  'POST /subscriptions/{name}/seek': {
    readonly params: { readonly name: string };
    readonly body: { readonly from: 'start' | 'end' | string };
    readonly answer: { readonly data: Subscription };
  };
  /** Park a change that cannot be processed. */
  'POST /subscriptions/{name}/parked': {
    readonly params: { readonly name: string };
    readonly body: { readonly place: string; readonly reason: string };
    readonly answer: { readonly data: Subscription };
  };
  /** List the parked changes of a subscription, oldest first. */
  'GET /subscriptions/{name}/parked': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: readonly ParkedChange[] };
  };
  /** Release a parked change. */
  'DELETE /subscriptions/{name}/parked/{place}': {
    readonly params: { readonly name: string; readonly place: string };
    readonly answer: Success;
  };
  /** Deliver a parked change once more. */
  'POST /subscriptions/{name}/parked/{place}/replay': {
    readonly params: { readonly name: string; readonly place: string };
    readonly answer: { readonly data: Subscription };
  };
  /** Run a SQL query. */
  'POST /sql': {
    readonly body: { readonly query: string; readonly format?: 'json' | 'csv' | 'parquet' | 'table'; readonly max_rows?: number; readonly timeout_s?: number };
    readonly answer: SqlResult;
  };
  /** List the views of SQL queries. */
  'GET /sql/views': {
    readonly answer: { readonly data: readonly SqlView[] };
  };
  /** List the saved queries. */
  'GET /sql/queries': {
    readonly answer: { readonly data: readonly SavedQuery[] };
  };
  /** Read a saved query. */
  'GET /sql/queries/{name}': {
    readonly params: { readonly name: string };
    readonly answer: { readonly data: SavedQuery };
  };
  /** Save a SQL query. */
  'PUT /sql/queries/{name}': {
    readonly params: { readonly name: string };
    readonly body: { readonly query: string; readonly description?: string };
    readonly answer: { readonly data: SavedQuery };
  };
  /** Delete a saved query. */
  'DELETE /sql/queries/{name}': {
    readonly params: { readonly name: string };
    readonly answer: Success;
  };
  /** List the alert destinations, oldest first. */
  'GET /alert-destinations': {
    readonly answer: { readonly data: readonly AlertDestination[] };
  };
  /** Create an alert destination. */
  'POST /alert-destinations': {
    readonly body: { readonly type: 'webhook' | 'slack' | 'email'; readonly target: string; readonly display_name?: string; readonly alerts?: readonly ('connections_failing' | 'refreshes_failing' | 'dead_letters' | 'projections_stuck' | 'webhook_endpoints_disabled')[] | null; readonly enabled?: boolean };
    readonly answer: { readonly data: AlertDestination };
  };
  /** Update an alert destination. */
  'PATCH /alert-destinations/{id}': {
    readonly params: { readonly id: string };
    readonly body?: { readonly display_name?: string; readonly target?: string; readonly alerts?: readonly ('connections_failing' | 'refreshes_failing' | 'dead_letters' | 'projections_stuck' | 'webhook_endpoints_disabled')[] | null; readonly enabled?: boolean };
    readonly answer: { readonly data: AlertDestination };
  };
  /** Delete an alert destination. */
  'DELETE /alert-destinations/{id}': {
    readonly params: { readonly id: string };
    readonly answer: Success;
  };
  /** List the alerts with their state. */
  'GET /alerts': {
    readonly answer: { readonly data: readonly Alert[] };
  };
  /** Send a test to an alert destination. */
  'POST /alert-destinations/{id}/test': {
    readonly params: { readonly id: string };
    readonly answer: { readonly data: { readonly delivered: boolean; readonly status: number | null; readonly error: string | null } };
  };
  /** Get the web console. */
  'GET /console': {
    readonly answer: string;
  };
  /** Get a script or style of the console. */
  'GET /console/assets/{file}': {
    readonly params: { readonly file: string };
    readonly headers?: { readonly 'accept-encoding'?: string };
    readonly answer: unknown;
  };
  /** Get a page of the web console. */
  'GET /console/{page}': {
    readonly params: { readonly page: string };
    readonly answer: string;
  };
  /** Get the documentation. */
  'GET /docs': {
    readonly answer: never;
  };
  /** Get a page of the documentation, or a file that its pages use. */
  'GET /docs/{page}': {
    readonly params: { readonly page: string };
    readonly headers?: { readonly 'accept-encoding'?: string; readonly 'if-none-match'?: string };
    readonly answer: unknown;
  };
  /** Send a request to the provider. */
  'GET /proxy/{path}': {
    readonly params: { readonly path: string };
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly retries?: number; readonly 'retry-on'?: string; readonly 'base-url-override'?: string; readonly decompress?: boolean; readonly 'forward-headers-on-redirect'?: boolean };
    readonly answer: unknown;
  };
  /** Send a request to the provider. */
  'POST /proxy/{path}': {
    readonly params: { readonly path: string };
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly retries?: number; readonly 'retry-on'?: string; readonly 'base-url-override'?: string; readonly decompress?: boolean; readonly 'forward-headers-on-redirect'?: boolean };
    readonly body?: unknown;
    readonly answer: unknown;
  };
  /** Send a request to the provider. */
  'PUT /proxy/{path}': {
    readonly params: { readonly path: string };
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly retries?: number; readonly 'retry-on'?: string; readonly 'base-url-override'?: string; readonly decompress?: boolean; readonly 'forward-headers-on-redirect'?: boolean };
    readonly body?: unknown;
    readonly answer: unknown;
  };
  /** Send a request to the provider. */
  'PATCH /proxy/{path}': {
    readonly params: { readonly path: string };
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly retries?: number; readonly 'retry-on'?: string; readonly 'base-url-override'?: string; readonly decompress?: boolean; readonly 'forward-headers-on-redirect'?: boolean };
    readonly body?: unknown;
    readonly answer: unknown;
  };
  /** Send a request to the provider. */
  'DELETE /proxy/{path}': {
    readonly params: { readonly path: string };
    readonly headers: { readonly 'provider-config-key': string; readonly 'connection-id': string; readonly retries?: number; readonly 'retry-on'?: string; readonly 'base-url-override'?: string; readonly decompress?: boolean; readonly 'forward-headers-on-redirect'?: boolean };
    readonly body?: unknown;
    readonly answer: unknown;
  };
  /** Follow the log. */
  'GET /logs/tail': {
    readonly query?: { readonly integrations?: readonly string[]; readonly connections?: readonly string[]; readonly syncs?: readonly string[]; readonly levels?: readonly ('debug' | 'info' | 'warn' | 'error')[]; readonly operationId?: string };
    readonly headers?: { readonly 'last-event-id'?: string };
    readonly answer: string;
  };
  /** Follow the runs. */
  'GET /runs/tail': {
    readonly query?: { readonly kind?: readonly ('sync' | 'action' | 'on-event' | 'on-change' | 'webhook' | 'dryrun' | 'revert')[]; readonly status?: readonly ('queued' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'timed_out' | 'interrupted')[]; readonly function?: string; readonly provider_config_key?: string; readonly connection_id?: string; readonly variant?: string };
    readonly headers?: { readonly 'last-event-id'?: string };
    readonly answer: string;
  };
  /** Export a chain of the audit. */
  'GET /audit/export': {
    readonly query: { readonly environment: string; readonly from?: number; readonly limit?: number };
    readonly answer: string;
  };
  /** Follow the records of a model. */
  'GET /records/stream': {
    readonly query: { readonly model: string; readonly variant?: string; readonly cursor?: string };
    readonly headers: { readonly 'connection-id': string; readonly 'provider-config-key': string; readonly 'last-event-id'?: string };
    readonly answer: string;
  };
  /** Receive a webhook of a provider. */
  'GET /webhook/{environmentUuid}/{providerConfigKey}': {
    readonly params: { readonly environmentUuid: string; readonly providerConfigKey: string };
    readonly answer: unknown;
  };
  /** Receive a webhook of a provider. */
  'POST /webhook/{environmentUuid}/{providerConfigKey}': {
    readonly params: { readonly environmentUuid: string; readonly providerConfigKey: string };
    readonly body?: unknown;
    readonly answer: unknown;
  };
  /** Follow the changes of all records. */
  'GET /changes/stream': {
    readonly query?: { readonly provider_config_key?: string; readonly connection_id?: string; readonly model?: string; readonly variant?: string; readonly cursor?: string; readonly from?: 'start' | 'end' | string };
    readonly headers?: { readonly 'last-event-id'?: string };
    readonly answer: string;
  };
}
