import { dayMs } from './time.ts';

/**
 * Limits that docs/reference/limits.md promises; bin/generate/limits-page.ts describes each one there. Changing one
 * changes behavior. The names end in units.
 */
export const limits = {
  recordsPageSizeDefault: 100,
  recordsPageSizeMax: 10_000,
  recordsIdsMax: 100,
  /** Ten years. */
  retentionDaysMax: 3_650,
  recordIdCharsMax: 255,
  /** One record as JSON. */
  recordBytesMax: 1_000_000,
  /** Records in one command message. */
  commandRecordsMax: 1000,
  /** Payload bytes of one command message. */
  commandBytesMax: 1_000_000,
  pruneRecordsDefault: 1000,
  /** The log keeps every change of a record for this long, and after that only its latest change. */
  recordHistoryDays: 28,
  historyPageSizeMax: 1_000,
  requestBytesMax: 75 * 1024 ** 2,
  /** Of a form that a browser submits. */
  formBytesMax: 256 * 1024,
  /** Levels of lists and objects in a body. */
  jsonDepthMax: 64,
  requestHeaderBytesMax: 32 * 1024,
  /** Open responses of `GET /runs/tail` in one process, and of `GET /logs/tail`. */
  tailStreamsMax: 50,
  environmentTailStreamsMax: 10,
  /** Open responses of `GET /records/stream` in one process. */
  recordStreamsMax: 200,
  environmentRecordStreamsMax: 50,
  /** Open requests of `GET /changes` and `GET /changes/stream` in one process. */
  changeFeedsMax: 100,
  environmentChangeFeedsMax: 25,
  changesPageSizeDefault: 1_000,
  changesPageSizeMax: 10_000,
  /** Longest `wait_s` of `GET /changes`. */
  changesWaitS: 20,
  /** A cursor has the position of every partition of the topic. */
  changeCursorCharsMax: 16_384,
  /** Of an environment. */
  subscriptionsMax: 100,
  /** Of a subscription. */
  parkedChangesMax: 100,
  /** Projections that projects deploy, of one environment. */
  customProjectionsMax: 50,
  /** Characters of the bundle of a projection, and of its source. */
  projectionBundleCharsMax: 256 * 1024,
  sqlQueryCharsMax: 100_000,
  savedQueriesMax: 100,
  savedQueryNameCharsMax: 100,
  savedQueryDescriptionCharsMax: 1_000,
  sqlSecondsDefault: 30,
  sqlSecondsMax: 300,
  sqlRowsDefault: 10_000,
  sqlRowsMax: 1_000_000,
  /** Of a result in its format: the process holds it in memory. */
  sqlResultBytesMax: 64 * 1024 ** 2,
  sqlMemoryBytes: 1024 ** 3,
  /** Running in one process. */
  sqlQueriesMax: 4,
  environmentSqlQueriesMax: 1,
  requestHeadMs: 15_000,
  requestMs: 120_000,
  /** Tables in process: larger ones are checked after the start. */
  tableCheckedAtStartBytes: 16 * 1024 ** 2,
  /** `Retry-After` of what a process that only reads refuses. */
  readOnlyRetryMs: 5_000,
  /** A message or a command that has failed so often becomes a dead letter. */
  deadLetterFailures: 5,
  idempotencyKeyCharsMax: 255,
  /** Of the response as JSON; a command takes no more than 1 MiB. */
  idempotentAnswerBytesMax: 512 * 1024,
  /** Of a proxied call: from the last byte of the request to the end of the response head. */
  proxyHeadMs: 120_000,
  /** Of a proxied call: between two pieces of a body. */
  proxyIdleMs: 120_000,
  actionInputBytesMax: 2 * 1024 ** 2,
  actionOutputBytesMax: 2 * 1024 ** 2,
  runBodiesKeptDays: 7,
  /** Recorded of one attempt of a run: calls, and their bytes before compression. Beyond it no replay is possible. */
  recordedRunCallsMax: 10_000,
  recordedRunBytesMax: 32 * 1024 ** 2,
  /** Of a deployed function, with the definitions that it refers to, as JSON. */
  checkedSchemaBytesMax: 128 * 1024,
  checkedSchemaLevelsMax: 32,
  /** For compiling such a schema, and for one value. */
  schemaCheckMs: 500,
  webhookTimeoutMs: 20_000,
  /** Before the second and the third attempt of a webhook, unless the endpoint or the environment has a schedule of its own. */
  webhookRetryWaitsMs: [3_000, 6_000],
  webhookRetriesMax: 20,
  /** A longer `Retry-After` of an endpoint counts as this. */
  webhookRetryAfterMaxMs: 3_600_000,
  webhookRetryWaitMaxMs: 7 * dayMs,
  webhookEndpointsMax: 100,
  webhookFilterConditionsMax: 20,
  webhookFilterValuesMax: 100,
  /** Characters of a text in a filter. */
  webhookFilterTextMax: 1_024,
  /** An endpoint whose webhooks all fail for this long is disabled, unless it has a time of its own. */
  webhookDisableAfterMs: 5 * dayMs,
  webhookDisableAfterMaxMs: 30 * dayMs,
  /** Failed attempts within that time; fewer do not disable an endpoint. */
  webhookDisableFailuresMin: 10,
  /** Of one endpoint, and the characters of each. */
  webhookHeadersMax: 20,
  webhookHeaderBytesMax: 4_096,
  alertDestinationsMax: 20,
  alertPauseMs: 15 * 60_000,
  alertTriesMax: 5,
  alertTestsPerMinute: 10,
  alertProjectionLagMs: 5 * 60_000,
  /** Incoming webhooks of one integration in one environment. */
  webhooksInPerMinute: 4_000,
  /** An incoming webhook; a message of the log holds less than 4 MiB. */
  webhookInBytesMax: 3 * 1024 ** 2,
  /** Kept per hour and integration: rejected webhooks, and unsigned ones that name no connection. */
  webhookUnknownBytesPerHour: 1024 ** 2,
  /** Minimum that each of these counts: the log keeps more than the body. */
  webhookUnverifiedBytesMin: 2 * 1024,
  /** Of a GET with which a provider verifies the address. */
  webhookChallengeCharsMax: 4096,
  /** A rejected webhook with a larger body is listed without it. */
  webhookRejectedBytesMax: 256 * 1024,
  /** Repeated deliveries of a provider are recognized within this time. */
  webhookKnownMs: dayMs,
  /** This many failures within the window block further attempts to an endpoint for a while. */
  webhookCircuitFailures: 5,
  webhookCircuitWindowMs: 10_000,
  webhookCircuitOpenMs: 60_000,
  /** A webhook that waits longer than this behind a failing endpoint is given up; it can be recovered. */
  webhookWaitMaxMs: 3 * dayMs,
  retryFirstWaitMs: 3_000,
  retryWaitMaxMs: 10 * 60_000,
  frequencyMinMs: 30_000,
  connectionSyncsMax: 100,
  /** Of all its syncs together, besides their base variants. */
  connectionVariantsMax: 100,
  /** A queued run of a sync that has not started by then fails. */
  syncStartByMs: 3_600_000,
  syncRunMaxMs: dayMs,
  actionRunMaxMs: 15 * 60_000,
  actionStartByMs: 30_000,
  asyncActionStartByMs: dayMs,
  webhookRunStartByMs: 5 * 60_000,
  webhookRunMaxMs: 3_600_000,
  /** From its creation until it is started, and from its start until it ends. */
  deploymentMs: 5 * 60_000,
  /** How long the outcome of one is reported. */
  deploymentKeptMs: 7 * dayMs,
  /** Of the TypeScript of one function that is deployed from source, in UTF-8. */
  deploymentSourceBytesMax: 500_000,
  dryRunStartByMs: 5 * 60_000,
  dryRunMaxMs: 5 * 60_000,
  eventStartByMs: 30_000,
  eventRunMaxMs: 5 * 60_000,
  /** Of joined webhooks: from one to the next, and from the first on. */
  debounceMaxMs: 3_600_000,
  /** Of one run that gets all of them. */
  webhookBatchMax: 250,
  webhookBatchBytesMax: 4 * 1024 ** 2,
  /** Of a function that has one, for each connection. */
  concurrencyMax: 100,
  /** Of one function, on one connection. */
  heldRunsMax: 5_000,
  /** Unless a caller waits for it. */
  heldRunMaxMs: dayMs,
  changeRunStartByMs: 60 * 60_000,
  changeRunMaxMs: 15 * 60_000,
  /** Changes of one run of an on-change function, or of one request to a target. */
  changeBatchMax: 1_000,
  changeRetriesMax: 20,
  /** Host calls of one run: a sync that pages for a day stays far below. */
  hostCallsMax: 1_000_000,
  /** Between a cancel, or the time limit, and the forced end of a run. */
  runGraceMs: 30_000,
  /** Of log lines of every level, of an environment. */
  allLogsMinutesMax: 60,
  allLogsFunctionsMax: 1_000,
  /** Of a failed run. */
  failureFramesMax: 10,
  failureCausesMax: 5,
  /** Of the provider's response. */
  failureBodyCharsMax: 4_000,
  compileMaxMs: 3 * 60_000,
  /** At a time in one process. */
  compilationsMax: 2,
  environmentCompilationsMax: 1,
  /** Same as the retention of the ledger (streams/topics.ts). */
  runsKeptDays: 90,
  checkpointBytesMax: 16 * 1024,
  metadataBytesMax: 256 * 1024,
  sandboxHeapMb: 256,
  /** Characters that are kept of the error that a provider returns in a callback. */
  providerErrorCharsMax: 500,
  /** How long one refresh may hold a connection; its request to the provider ends earlier. */
  refreshLeaseMs: 15_000,
  refreshWaitMs: 30_000,
  refreshBackoffMs: 30_000,
  /** Answers 4xx without a known code, while no credentials are valid, count as a refusal after this time. */
  refreshRefusedForMs: dayMs,
  refreshFailureDaysMax: 4,
  /** Credentials are renewed this long before they expire, unless the provider names another time. */
  refreshMarginMs: 15 * 60_000,
  /** From the start of an attempt to revoke access at a provider; without an outcome it is repeated then. */
  revocationLeaseMs: 60_000,
  revocationAttemptsMax: 8,
  /** After the first attempt; four times as long after each further one, up to the next limit. */
  revocationFirstWaitMs: 30_000,
  revocationWaitMaxMs: 6 * 3_600_000,
  connectSessionMs: 30 * 60_000,
  exportGrantMs: 30 * 60_000,
  /** Of one list that an import reads from another gateway. */
  importPagesMax: 2_000,
  importListBytesMax: 512 * 1024 * 1024,
  /** Of an MCP client, from its initialization. */
  mcpSessionMs: 24 * 3_600_000,
  /** From the sign-in. */
  consoleSessionMs: 12 * 3_600_000,
  /** From its last use. */
  consoleSessionIdleMs: 2 * 3_600_000,
  /** How often the use of a session is noted in the log. */
  consoleSessionNotedMs: 5 * 60_000,
  consoleSessionKeysMax: 50,
  consoleCodeMs: 5 * 60_000,
  /** Until the first sign-in. */
  invitationMs: 7 * dayMs,
  /** After it. */
  signInLinkMs: 15 * 60_000,
  /** From the start of a sign-in with the identity provider to its return. */
  identitySignInMs: 10 * 60_000,
  peopleMax: 5_000,
  /** Of one person. */
  grantsMax: 200,
  /** Of one address, successful ones included. */
  consoleSignInsPerMinute: 60,
  /** In Kafka, a segment of wrapped keys stays open at most this long; then destroyed keys are compacted away. */
  keySegmentMs: 60_000,
  /** Between the redirect to the provider and the callback. */
  authorizationMs: 30 * 60_000,
  /** Clients that authorization servers of MCP servers registered for one integration. */
  registeredClientsMax: 100,
  /** Bytes of the metadata of an MCP server, of an authorization server, or of a registered client. */
  oauthMetadataBytesMax: 262_144,
  /** How long a rotated signing key signs beside the new one. */
  signingKeyOverlapMs: dayMs,
  /** The same for the key of an endpoint, when the rotation sets another time. */
  signingKeyOverlapMaxMs: 30 * dayMs,
  /** How long a replaced secret of an API key stays valid unless the rotation sets another time. */
  keyOverlapMs: dayMs,
  keyOverlapMaxMs: 30 * dayMs,
  environmentKeysMax: 50,
  environmentVariablesMax: 100,
  connectionTagsMax: 10,
  /** Operations and messages of the user-visible log. */
  logsKeptDays: 15,
  auditKeptDays: 400,
  topicMessagesPageSizeDefault: 50,
  topicMessagesPageSizeMax: 500,
  /** Values of one page of messages of a topic; one message may exceed it. */
  topicMessagesBytesMax: 2 * 1024 ** 2,
  /** How long one page of messages is searched for in the log. */
  topicMessagesSearchMs: 3_000,
  idempotencyMs: dayMs,
  pruneAfterMs: 30 * dayMs,
  purgeAfterMs: 60 * dayMs,
  /** What a typed topic holds is deleted within this time: 29 days, plus the segment that is being written. */
  typedTopicKeptMs: 30 * dayMs,
  /** Heartbeats of a typed topic are kept for a day. */
  heartbeatMaxS: 3_600,
} as const;
