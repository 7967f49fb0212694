/**
 * Limits that docs/reference/limits.md promises; src/app/limits-page.ts says there what each is. Changing one is a
 * change of behavior. Units end the names.
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
  /** How long the log keeps every change of records; older ones only where nothing superseded them. */
  recordHistoryDays: 28,
  historyPageSizeMax: 1_000,
  requestBytesMax: 75 * 1024 ** 2,
  /** Levels of lists and objects in a body. */
  jsonDepthMax: 64,
  requestHeaderBytesMax: 32 * 1024,
  requestHeadMs: 15_000,
  requestMs: 120_000,
  idempotencyKeyCharsMax: 255,
  /** Of the answer as JSON; a command takes no more than 1 MiB. */
  idempotentAnswerBytesMax: 512 * 1024,
  /** Of a proxied call: from the last byte of the request to the end of the head of the answer. */
  proxyHeadMs: 120_000,
  /** Of a proxied call: between two pieces of a body. */
  proxyIdleMs: 120_000,
  actionInputBytesMax: 2 * 1024 ** 2,
  actionOutputBytesMax: 2 * 1024 ** 2,
  webhookTimeoutMs: 20_000,
  /** Before the second and the third attempt of a webhook, unless the environment has a schedule of its own. */
  webhookRetryWaitsMs: [3_000, 6_000],
  webhookRetriesMax: 20,
  webhookRetryWaitMaxMs: 7 * 86_400_000,
  webhookEndpointsMax: 100,
  /** Webhooks of providers that come in for one integration of an environment. */
  webhooksInPerMinute: 4_000,
  /** A webhook of a provider; what the log keeps in one message has less than 4 MiB. */
  webhookInBytesMax: 3 * 1024 ** 2,
  /** Kept in an hour for one integration of what was rejected, or names no connection and is signed by nobody. */
  webhookUnknownBytesPerHour: 1024 ** 2,
  /** What each of these counts at least: the log keeps more than the body of it. */
  webhookUnverifiedBytesMin: 2 * 1024,
  /** A rejected webhook with a larger body is listed without it. */
  webhookRejectedBytesMax: 256 * 1024,
  /** How long a delivery is remembered to detect that the provider repeats it. */
  webhookKnownMs: 24 * 3_600_000,
  /** So many failures within the window keep further attempts from an endpoint for a while. */
  webhookCircuitFailures: 5,
  webhookCircuitWindowMs: 10_000,
  webhookCircuitOpenMs: 60_000,
  /** How long a webhook waits behind an endpoint that fails before it is given up; it can be recovered. */
  webhookWaitMaxMs: 3 * 86_400_000,
  retryFirstWaitMs: 3_000,
  retryWaitMaxMs: 10 * 60_000,
  frequencyMinMs: 30_000,
  connectionSyncsMax: 100,
  /** Of all its syncs together, beside their base variants. */
  connectionVariantsMax: 100,
  /** A queued run of a sync that has not started by then fails. */
  syncStartByMs: 3_600_000,
  syncRunMaxMs: 24 * 3_600_000,
  actionRunMaxMs: 15 * 60_000,
  actionStartByMs: 30_000,
  asyncActionStartByMs: 24 * 3_600_000,
  webhookRunStartByMs: 5 * 60_000,
  webhookRunMaxMs: 3_600_000,
  /** From its start, and until it is started. */
  deploymentMs: 5 * 60_000,
  /** How long it is told what became of one. */
  deploymentKeptMs: 7 * 86_400_000,
  /** Of the TypeScript of one function that is deployed from source, in UTF-8. */
  deploymentSourceBytesMax: 500_000,
  dryRunStartByMs: 5 * 60_000,
  dryRunMaxMs: 5 * 60_000,
  eventStartByMs: 30_000,
  eventRunMaxMs: 5 * 60_000,
  /** Calls to the host that one run may make: a sync that pages for a day stays far below. */
  hostCallsMax: 1_000_000,
  /** Between a cancel, or the end of the time, and the forced end of a run. */
  runGraceMs: 30_000,
  compileMaxMs: 3 * 60_000,
  /** As long as the ledger is (streams/topics.ts). */
  runsKeptDays: 90,
  checkpointBytesMax: 16 * 1024,
  metadataBytesMax: 256 * 1024,
  sandboxHeapMb: 256,
  /** How long one refresh may hold a connection; its call to the provider ends sooner. */
  refreshLeaseMs: 15_000,
  refreshWaitMs: 30_000,
  refreshBackoffMs: 30_000,
  refreshFailureDaysMax: 4,
  /** Credentials are renewed that long before they expire, where the provider names no other time. */
  refreshMarginMs: 15 * 60_000,
  connectSessionMs: 30 * 60_000,
  /** In Kafka, a segment of wrapped keys is open that long at most; then destroyed keys are compacted away. */
  keySegmentMs: 60_000,
  /** Between the redirect to the provider and the callback. */
  authorizationMs: 30 * 60_000,
  /** How long a rotated signing key signs beside the new one. */
  signingKeyOverlapMs: 24 * 3_600_000,
  environmentKeysMax: 50,
  environmentVariablesMax: 100,
  connectionTagsMax: 10,
  /** Operations and messages that users read. */
  logsKeptDays: 15,
  auditKeptDays: 400,
  idempotencyMs: 24 * 3_600_000,
  pruneAfterMs: 30 * 86_400_000,
  purgeAfterMs: 60 * 86_400_000,
  /** How long a typed topic holds a message at most: 29 days and the segment that is being written. */
  typedTopicKeptMs: 30 * 86_400_000,
} as const;
