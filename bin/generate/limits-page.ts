import { limits } from '#kernel/limits.ts';
import { bytesText, durationText, table } from './markdown.ts';

type LimitName = keyof typeof limits;
type Meanings = Readonly<Partial<Record<LimitName, string>>>;

/** In the order of docs/reference/limits.md; each limit is in exactly one group. */
const groups = {
  requests: {
    requestBytesMax:
      'A request body, also one that is proxied with retries; more is `request_too_large`',
    jsonDepthMax: 'Levels of objects and lists in a JSON body',
    formBytesMax: 'A form that a browser submits: a callback by POST',
    requestHeaderBytesMax: 'Headers of a request; larger ones are answered 431',
    requestHeadMs:
      'From the start of a request to the end of its headers; after that it is answered 408',
    requestMs:
      'From the start of a request to the end of its body, except on `/proxy`; later is answered 408',
    readOnlyRetryMs: '`Retry-After` of what a process with SVC_READ_ONLY refuses',
    tailStreamsMax:
      'Open streams of `GET /runs/tail` in one process, and of `GET /logs/tail`; more are `too_many_request`',
    environmentTailStreamsMax: 'The same, of one environment',
    recordStreamsMax:
      'Open streams of `GET /records/stream` in one process; more are `too_many_request`',
    environmentRecordStreamsMax: 'The same, of one environment',
    changeFeedsMax:
      'Open requests of `GET /changes` and `GET /changes/stream` in one process; more are `too_many_request`',
    environmentChangeFeedsMax: 'The same, of one environment',
    changesPageSizeDefault: '`limit` of `GET /changes`, default',
    changesPageSizeMax: '`limit` of `GET /changes`, at most',
    changesWaitS: '`wait_s` of `GET /changes`, at most',
    changeCursorCharsMax: 'Characters of a cursor of changes',
    sqlQueryCharsMax: 'Characters of a query of `POST /sql`',
    savedQueriesMax: 'Saved queries of an environment',
    savedQueryNameCharsMax: 'Characters of the name of a saved query',
    savedQueryDescriptionCharsMax: 'Characters of the description of a saved query',
    sqlSecondsDefault: '`timeout_s` of `POST /sql` in seconds, default',
    sqlSecondsMax: '`timeout_s` of `POST /sql` in seconds, at most',
    sqlRowsDefault: '`max_rows` of `POST /sql`, default',
    sqlRowsMax: '`max_rows` of `POST /sql`, at most',
    sqlResultBytesMax: 'Result of a query of `POST /sql`, in memory',
    sqlMemoryBytes: 'Memory of a query of `POST /sql`',
    customProjectionsMax: 'Projections that projects deploy, of one environment',
    projectionBundleCharsMax: 'Characters of the bundle of a projection, and of its source',
    sqlQueriesMax: 'Running queries of `POST /sql` in one process; more are `too_many_request`',
    environmentSqlQueriesMax: 'The same, of one environment',
    subscriptionsMax: 'Subscriptions of an environment',
    parkedChangesMax: 'Parked changes of a subscription',
    idempotencyKeyCharsMax: 'Characters of an `Idempotency-Key`',
    idempotencyMs: 'How long an `Idempotency-Key` is known',
    idempotentAnswerBytesMax: 'An answer that is kept for an `Idempotency-Key`, as JSON',
  },
  records: {
    recordsPageSizeDefault: '`limit` of `GET /records`, default',
    recordsPageSizeMax: '`limit` of `GET /records` and `PATCH /records/prune`, at most',
    recordsIdsMax: 'Ids in one `GET /records`',
    recordIdCharsMax: 'Characters of a record id',
    recordBytesMax: 'One record as JSON in UTF-8; more is `record_too_large`',
    commandRecordsMax: 'Records in one command; a larger save is split',
    commandBytesMax: 'Payloads in one command; a larger save is split',
    pruneRecordsDefault: '`limit` of `PATCH /records/prune`, default',
    recordHistoryDays: 'How long the log keeps every change of a record',
    historyPageSizeMax: '`limit` of `GET /records/history`, at most',
    tableCheckedAtStartBytes:
      'A table in process whose files are all checked before the start; larger ones are checked after it',
    pruneAfterMs:
      'A record that was not updated for this long loses its payload; a setting of the environment',
    purgeAfterMs:
      'Records whose stream no run has used for this long are removed for good; a setting of the environment',
    retentionDaysMax: 'Maximum of either setting',
    heartbeatMaxS: '`heartbeat_s` of a typed topic, at most',
    typedTopicKeptMs: 'Longest time that a change stays on its typed topic',
  },
  proxy: {
    proxyHeadMs: 'From the last byte of a proxied request to the end of the response head',
    proxyIdleMs:
      'Between two parts of a proxied body; an upload that pauses longer is answered 408',
    retryFirstWaitMs:
      'Wait before the first retry, also of requests of functions; each further wait is twice as long',
    retryWaitMaxMs: 'Longest wait before a retry',
  },
  runs: {
    frequencyMinMs: 'The shortest frequency of a sync',
    connectionSyncsMax: 'Syncs of one connection',
    connectionVariantsMax: 'Variants of one connection, of all its syncs together, beside `base`',
    syncStartByMs: 'A queued run of a sync that has not started within this time fails',
    syncRunMaxMs: 'A run of a sync',
    actionStartByMs: 'An action with a waiting caller that has not started within this time fails',
    asyncActionStartByMs: 'The same for an asynchronous action',
    actionRunMaxMs: 'A run of an action',
    actionInputBytesMax: 'The input of an action',
    actionOutputBytesMax: 'The output of a function; more is `script_output_too_large`',
    runBodiesKeptDays: 'Inputs, outputs and recorded calls of runs are kept this long',
    recordedRunCallsMax: 'Recorded calls of an attempt; with more it cannot be replayed',
    recordedRunBytesMax: 'The same of their bytes, before compression',
    checkedSchemaBytesMax:
      'The input schema of an action, with the definitions beside it, that arguments over MCP are checked against; a larger one checks nothing',
    checkedSchemaLevelsMax:
      'Levels of lists and objects in such a schema; a deeper one checks nothing',
    schemaCheckMs: 'Compiling such a schema, and one check; beyond that it checks nothing',
    eventStartByMs: 'An on-event function that has not started within this time fails',
    eventRunMaxMs: 'A run of an on-event function',
    debounceMaxMs: 'The longest wait for further webhooks of a debounce',
    webhookBatchMax:
      'Joined webhooks of one run that gets all of them; with more a further run starts',
    webhookBatchBytesMax:
      'A run of joined webhooks that gets all of them starts once they have so many bytes',
    concurrencyMax: 'The concurrency of a function: its runs at the same time on one connection',
    heldRunsMax:
      'Runs of a function that wait on one connection because of its concurrency; another one is refused',
    heldRunMaxMs:
      'A run that waits because of a concurrency fails after this time; one with a waiting caller after its usual time',
    changeRunStartByMs:
      'A run of an on-change function that has not started within this time fails',
    changeRunMaxMs: 'A run of an on-change function',
    changeBatchMax: 'Changes of one run of an on-change function',
    changeRetriesMax: 'Further runs of an on-change function after a failed one',
    webhookRunStartByMs: 'A run for a webhook that has not started within this time fails',
    webhookRunMaxMs: 'A run for a webhook',
    dryRunStartByMs: 'A dry run that has not started within this time fails',
    dryRunMaxMs: 'A dry run',
    runGraceMs: 'Between a cancel, or the time limit, and the forced end of a run',
    hostCallsMax: 'Calls to the host of one run',
    allLogsMinutesMax:
      'Minutes for which an environment or a function can keep log lines of every level',
    allLogsFunctionsMax: 'Functions of an environment that keep them at a time',
    failureFramesMax: 'Lines of the stack that are kept of a failed run',
    failureCausesMax: 'Causes of its error that are kept',
    failureBodyCharsMax: "Start of the provider's response that is kept with it",
    sandboxHeapMb: 'Memory of one run, in megabytes, ArrayBuffers included',
    checkpointBytesMax: 'A checkpoint as JSON',
    metadataBytesMax: 'The metadata of a connection as JSON',
    runsKeptDays: 'How long runs are listed',
  },
  deployments: {
    compileMaxMs: 'Compiling one file',
    compilationsMax:
      'Files compiled at a time in one process; more are `execution_environment_unavailable`, and a deployment waits',
    environmentCompilationsMax: 'The same, of one environment',
    deploymentSourceBytesMax: 'The TypeScript of a function that is deployed from source',
    deploymentMs: 'A deployment from source: until its start, and from its start to its end',
    deploymentKeptMs: 'How long the outcome of a deployment from source can be read',
  },
  credentials: {
    providerErrorCharsMax:
      'Description, and address, of the error that a provider returns in a callback',
    refreshLeaseMs: 'How long one refresh holds a connection',
    refreshWaitMs: 'How long a request waits for a refresh by another request',
    refreshBackoffMs: 'After a failed refresh, until the next attempt',
    refreshRefusedForMs:
      'A provider that refuses refreshes with 4xx and without a known code, until the connection gets an `auth` error',
    refreshFailureDaysMax: 'Days with failed refreshes, after which there are no more attempts',
    refreshMarginMs:
      'Credentials are refreshed this long before their expiry, unless the provider definition sets another time; never more than a quarter of their lifetime',
    revocationLeaseMs:
      'An attempt to revoke access at a provider; without an outcome it is repeated then',
    revocationAttemptsMax: 'Attempts to revoke the access of a deleted connection',
    revocationFirstWaitMs:
      'After the first attempt, until the next; four times as long after each further one',
    revocationWaitMaxMs: 'Between two attempts to revoke access, at most',
    connectSessionMs: 'A connect session',
    exportGrantMs: 'The grant of an export',
    importPagesMax: 'Pages of one list that `svc import` reads; a longer list is refused',
    importListBytesMax: 'One list that `svc import` reads, as JSON, all pages together',
    mcpSessionMs: 'A session of an MCP client',
    consoleSessionMs: 'A session of the console, from the sign-in',
    consoleSessionIdleMs: 'The same, from its last use',
    consoleSessionNotedMs: 'How often its use is noted',
    consoleSessionKeysMax: 'Keys of one session of the console',
    keyOverlapMs:
      'A rotated API key: how long the secret before stays valid, unless the rotation sets another time',
    keyOverlapMaxMs: 'Longest time that a rotation may set',
    consoleCodeMs: 'A one-time code for the console',
    invitationMs: 'An invitation of a person, until the first sign-in',
    signInLinkMs: 'A sign-in link of a person, after it',
    identitySignInMs: 'From the start of a sign-in with the identity provider to its return',
    peopleMax: 'People',
    grantsMax: 'Roles of a person',
    consoleSignInsPerMinute: 'Sign-ins to the console from one address in a minute',
    authorizationMs: 'Between the redirect to a provider and the callback',
    registeredClientsMax:
      'Clients that authorization servers of MCP servers registered for one integration; the oldest make room',
    oauthMetadataBytesMax: 'Metadata of an MCP server or its authorization server',
    connectionTagsMax: 'Tags of one connection',
    keySegmentMs:
      'With Kafka: how long a segment of wrapped keys stays open, after which destroyed keys are compacted away',
  },
  webhooks: {
    webhookTimeoutMs: 'One attempt to deliver a webhook to the application',
    webhookRetryWaitsMs:
      'Waits before further attempts; a setting of the environment and of each endpoint',
    webhookRetriesMax: 'Maximum number of waits in that setting',
    webhookRetryAfterMaxMs: 'Longest `Retry-After` of an endpoint that is respected',
    webhookRetryWaitMaxMs: 'Longest wait in that setting',
    webhookWaitMaxMs:
      'A webhook that has waited this long for a failing endpoint fails; it can be recovered',
    webhookDisableAfterMs:
      'An endpoint whose webhooks all fail for this long is disabled, unless it has a time of its own',
    webhookDisableAfterMaxMs: 'Longest time that an endpoint may have',
    webhookDisableFailuresMin: 'Failed attempts without which it is not disabled',
    webhookEndpointsMax: 'Webhook endpoints of one environment',
    webhookFilterConditionsMax: 'Conditions in the filter of one webhook endpoint',
    webhookFilterValuesMax: 'Values in a list of such a condition',
    webhookFilterTextMax: 'Characters of a text in it',
    webhookHeadersMax: 'Own headers of one webhook endpoint',
    webhookHeaderBytesMax: 'Characters of each of these headers',
    alertDestinationsMax: 'Alert destinations of one environment',
    alertPauseMs: 'The least time between two notices of failures of one kind in one environment',
    alertTriesMax: 'Tries of a notice to a destination, one every 30 seconds',
    alertTestsPerMinute: 'Test notices of one environment in a minute',
    alertProjectionLagMs: 'How far behind a projection must be for an alert',
    webhookCircuitFailures: 'Failures that open the circuit of a URL',
    webhookCircuitWindowMs: 'The time within which these failures count',
    webhookCircuitOpenMs: 'How long an open circuit blocks attempts',
    signingKeyOverlapMs: 'How long a rotated signing key signs beside the new one',
    signingKeyOverlapMaxMs: 'Longest time that a rotation of the key of an endpoint may set',
    webhooksInPerMinute:
      'Webhooks of providers for one integration in a minute; counted, or enforced by `SVC_WEBHOOK_RATE_LIMIT`',
    webhookInBytesMax: 'The body of a webhook of a provider',
    webhookChallengeCharsMax: 'The challenge with which a provider verifies the address',
    webhookKnownMs: 'How long repeats of a provider are recognized',
    webhookUnknownBytesPerHour:
      'Kept per hour and integration: rejected webhooks, and unsigned ones that name no connection',
    webhookUnverifiedBytesMin: 'Minimum that each of these counts',
    webhookRejectedBytesMax: 'Stored body of a rejected webhook',
  },
  environments: {
    environmentKeysMax: 'API keys of one environment, and of the account',
    environmentVariablesMax: 'Variables of one environment',
    deadLetterFailures:
      'Failures of a message or a command after which it becomes a dead letter; failures in an outage do not count',
    logsKeptDays: 'How long operations and messages of the log can be read',
    auditKeptDays: 'How long audit events are kept',
    topicMessagesPageSizeDefault: '`limit` of `GET /topics/{name}/messages`, default',
    topicMessagesPageSizeMax: 'The same, at most',
    topicMessagesBytesMax: 'Values of one page of messages; one message may exceed it',
    topicMessagesSearchMs: 'How long the log is searched for one page; the next one continues',
  },
} as const satisfies Record<string, Meanings>;

function valueText(name: LimitName): string {
  const value: number | readonly number[] = limits[name];
  return [value]
    .flat()
    .map((one) => limitText(name, one))
    .join(', ');
}

/** The name ends in the unit. */
function limitText(name: LimitName, value: number): string {
  if (name.endsWith('Ms')) return durationText(value);
  if (name.includes('Bytes')) return bytesText(value);
  if (/Days(Max)?$/.test(name)) return `${value} d`;
  return value.toLocaleString('en-US');
}

/** A table for each group. @throws Error when a limit is in no group */
export function limitsBlocks(): Readonly<Record<string, string>> {
  const named = new Set(Object.values(groups).flatMap((group) => Object.keys(group)));
  const left = Object.keys(limits).filter((name) => !named.has(name));
  if (left.length > 0) throw new Error(`limits-page.ts has no group for ${left.join(', ')}`);
  return Object.fromEntries(
    Object.entries(groups).map(([title, meanings]) => {
      const rows = Object.entries(meanings).map(([name, meaning]) => [
        meaning,
        valueText(name as LimitName),
      ]);
      return [title, table(['What', 'Limit'], rows)];
    }),
  );
}
