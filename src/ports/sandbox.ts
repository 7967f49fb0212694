import type { Json, JsonObject } from '#kernel/stable-json.ts';

/** Which `create*` function made a bundle's default export, of those that run. */
export type FunctionType = 'sync' | 'action' | 'onEvent' | 'onChange';
/** The same of any bundle. A projection does not run: its mapping is called with changes of records. */
export type DefinitionType = FunctionType | 'projection';

/** How changes of records reach an on-change function. A type, because an interface would not be assignable to JSON. */
export type ChangeDelivery = {
  /** Where it begins when it is deployed first. */
  readonly from: 'start' | 'end';
  /** Changes of a run, at most. */
  readonly batchSize: number;
  /** Further runs after a failed one, before a change is parked. */
  readonly retries: number;
};

/** The part of the definition that a run calls. */
export type EntryPoint = 'exec' | 'onWebhook';
/** Failure code of a function whose definition lacks the called part. */
export const missingEntry = 'missing_entry';
/** How values that violate the schemas of a function are treated. */
export type ValidationMode = 'off' | 'warn' | 'error';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Facts that the handle shows to the function; none is secret. */
export interface RunContext {
  readonly connectionId: string;
  readonly providerConfigKey: string;
  readonly provider: string;
  readonly environmentName: string;
  readonly environmentId: number;
  /** `base` unless the sync has variants. */
  readonly variant: string;
  /** ISO 8601; null = no successful run yet. */
  readonly lastSyncDate: string | null;
  /** Models that a sync declares; empty for other kinds. */
  readonly models: readonly string[];
  /** Level below which log lines are dropped in the function; `off` drops all. */
  readonly loggerLevel: LogLevel | 'off';
  /** The provider's own settings of `paginate`; null = none. */
  readonly paginate: JsonObject | null;
  /** Applies to outputs, records, written metadata and checkpoints. */
  readonly validation: ValidationMode;
  /** Applies to the input of an action. */
  readonly inputValidation: ValidationMode;
}

/** Limits that end a run. Every value is per run. */
export interface RunLimits {
  /** From the start; then host calls fail, and after `graceMs` the run is ended by force. */
  readonly wallMs: number;
  /** CPU time; beyond it the run is ended at once. */
  readonly cpuMs: number;
  /** How long an aborted function may continue, to clean up. */
  readonly graceMs: number;
  readonly heapMb: number;
  /** JSON text of the output in UTF-8. */
  readonly outputBytes: number;
  /** Calls to the host over the whole run. */
  readonly hostCalls: number;
}

export interface RunRequest {
  /** CommonJS text whose default export is a definition. */
  readonly bundle: string;
  /** Name of the bundle in stack traces. */
  readonly fileName: string;
  readonly type: FunctionType;
  readonly entry: EntryPoint;
  /** JSON text of the input of an action, of the payload of a webhook, or of changes; undefined = none. */
  readonly input: string | undefined;
  readonly context: RunContext;
  readonly limits: RunLimits;
  /** Its reason may be an error with a `code`; `script_aborted` otherwise. */
  readonly signal: AbortSignal;
}

/** JSON text and, beside it, text that is not JSON (a response body), so that it is not escaped twice. */
export interface HostAnswer {
  readonly json: string;
  readonly body?: string;
}

/** Takes the JSON text of its arguments. An exception reaches the function as a plain error with its `code`. */
export type HostCall = (args: string) => Promise<HostAnswer | string>;

/**
 * Everything that the function can cause outside. Names are looked up as own properties; the table is fixed for a
 * run and must validate its arguments: they come from untrusted code.
 */
export type HostCalls = Readonly<Partial<Record<HostMethod, HostCall>>>;

/** The host calls of the handle; their arguments and answers are typed in `HostProtocol`. */
export const hostMethods = [
  'http',
  'fetch',
  'log',
  'getConnection',
  'getIntegration',
  'setMetadata',
  'updateMetadata',
  'getEnvironmentVariables',
  'triggerAction',
  'triggerSync',
  'startSync',
  'getCheckpoint',
  'saveCheckpoint',
  'clearCheckpoint',
  'batchSave',
  'batchUpdate',
  'batchDelete',
  'trackDeletesStart',
  'trackDeletesEnd',
  'deleteRecordsFromPreviousExecutions',
  'getRecordsById',
  'listRecords',
  'setMergingStrategy',
  'tryAcquireLock',
  'releaseLock',
  'releaseAllLocks',
] as const;
export type HostMethod = (typeof hostMethods)[number];

/** A body in transport: only JSON, so bytes are base64. */
export type WireBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'text'; readonly text: string }
  /** A `URLSearchParams`. */
  | { readonly kind: 'form'; readonly text: string }
  | { readonly kind: 'bytes'; readonly base64: string }
  /** An object with bytes among its values, for multipart. */
  | {
      readonly kind: 'fields';
      readonly fields: readonly (readonly [string, { value: Json } | { base64: string }])[];
    };

/** One provider call (docs/reference/functions.md#configuration). */
export interface HttpCall {
  readonly method: string;
  readonly endpoint: string;
  readonly params?: string | JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: WireBody;
  readonly retries?: number;
  readonly retryOn?: readonly number[];
  readonly retryHeader?: { readonly at?: readonly string[]; readonly after?: readonly string[] };
  readonly baseUrlOverride?: string;
  /** URL of an earlier request against which a relative endpoint resolves, in place of the base URL. */
  readonly relativeTo?: string;
  /** `binary`: the body is returned as one character per byte. */
  readonly bodyAs: 'text' | 'binary';
  readonly forwardHeadersOnRedirect?: boolean;
  readonly providerConfigKey?: string;
  readonly connectionId?: string;
}

/** The body travels beside it. A failure is a result too: the function turns it into an error. */
export type HttpAnswer =
  | {
      readonly outcome: 'reply';
      readonly status: number;
      readonly statusText: string;
      readonly headers: Readonly<Record<string, string>>;
      /** The values of `set-cookie`; absent without one. */
      readonly setCookies?: readonly string[];
      readonly url: string;
      /** Of the request, where redirects led elsewhere. */
      readonly requestUrl?: string;
    }
  | {
      readonly outcome: 'failure';
      readonly code: string;
      readonly message: string;
      readonly url: string;
    };

interface FetchCall {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: WireBody;
}

export interface LogLine {
  readonly level: LogLevel;
  readonly message: string;
  /** JSON text, truncated and redacted; null = none. */
  readonly payload: string | null;
}

/** Lines that a function wrote below the level of its log. */
export interface DroppedLines {
  readonly level: LogLevel | 'off';
  /** The function chose the level by `setLogger`. */
  readonly isOwnLevel: boolean;
  readonly counts: Readonly<Partial<Record<LogLevel, number>>>;
}

/**
 * Arguments and answers of the host calls, for both sides. Answers of `void` are `null`. Arguments cross as JSON, which
 * leaves out what is undefined.
 */
export interface HostProtocol {
  http: [HttpCall, HttpAnswer];
  fetch: [FetchCall, HttpAnswer];
  log: [{ lines: readonly LogLine[] }, null];
  getConnection: [
    {
      providerConfigKey?: string;
      connectionId?: string;
      forceRefresh?: boolean;
      refreshToken?: boolean;
    },
    JsonObject,
  ];
  getIntegration: [{ include: readonly string[] }, JsonObject];
  setMetadata: [{ metadata: JsonObject }, null];
  updateMetadata: [{ metadata: JsonObject }, null];
  getEnvironmentVariables: [
    Record<string, never>,
    readonly { readonly name: string; readonly value: string }[] | null,
  ];
  triggerAction: [
    { providerConfigKey?: string; connectionId?: string; name: string; input?: Json },
    { output?: Json },
  ];
  triggerSync: [
    {
      providerConfigKey: string;
      connectionId: string;
      name: string;
      variant?: string | undefined;
      options: JsonObject;
    },
    null,
  ];
  startSync: [
    {
      providerConfigKey: string;
      names: readonly string[];
      connectionId?: string | undefined;
    },
    null,
  ];
  getCheckpoint: [Record<string, never>, JsonObject | null];
  saveCheckpoint: [{ checkpoint: JsonObject }, null];
  clearCheckpoint: [Record<string, never>, null];
  batchSave: [{ model: string; records: readonly Json[] }, null];
  batchUpdate: [{ model: string; records: readonly Json[] }, null];
  batchDelete: [{ model: string; records: readonly Json[] }, null];
  trackDeletesStart: [{ model: string }, null];
  trackDeletesEnd: [{ model: string }, { deletedKeys: readonly string[] }];
  deleteRecordsFromPreviousExecutions: [{ model: string }, { deletedKeys: readonly string[] }];
  getRecordsById: [{ model: string; ids: readonly string[] }, readonly JsonObject[]];
  listRecords: [
    { model: string; cursor: string | null; limit: number },
    { records: readonly JsonObject[]; next_cursor: string | null },
  ];
  setMergingStrategy: [{ model: string; strategy: 'override' | 'ignore_if_modified_after' }, null];
  tryAcquireLock: [{ key: string; ttlMs: number }, boolean];
  releaseLock: [{ key: string }, boolean];
  releaseAllLocks: [Record<string, never>, null];
}

/** What did not fit its schema. */
export const invalidCodes = [
  'invalid_sync_record',
  'invalid_action_input',
  'invalid_action_output',
  'invalid_checkpoint',
  'invalid_metadata',
] as const;
export type InvalidCode = (typeof invalidCodes)[number];

/**
 * Why a run failed. All but the first five are detected outside the function; what the function reports is
 * untrusted text.
 */
export type FailureKind =
  /** It threw an ActionError. */
  | 'action_error'
  /** An uncaught error made from a provider's response. */
  | 'http'
  /** An uncaught error: a provider could not be reached. */
  | 'network'
  /** A value violated the schemas of the function; `code` names it. */
  | 'invalid'
  /** Any other exception, also while the bundle was loaded. */
  | 'error'
  | 'aborted'
  | 'timeout'
  | 'memory'
  | 'output_too_large'
  /** Too many calls to the host. */
  | 'limit'
  /** The process ended through no fault of this run. */
  | 'interrupted';

export interface FailureCause {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
}

/** A request to a provider that failed. */
export interface FailedCall {
  readonly method: string;
  readonly url: string;
  /** Null without a response. */
  readonly status: number | null;
  /** The error without a response. */
  readonly code: string | null;
  /** The start of the response, as text; null without one, and of bytes. */
  readonly body: string | null;
}

export interface RunFailure {
  readonly kind: FailureKind;
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  /** Of an ActionError, or the provider's body. */
  readonly payload?: Json;
  /** Up to 10 lines that refer to the function's file. */
  readonly stack?: string;
  /** Up to 5, from the direct cause on. Absent: none. */
  readonly causes?: readonly FailureCause[];
  /** The request to a provider whose error, or whose error as a cause, ended the run. Absent: none. */
  readonly call?: FailedCall;
  readonly upstream?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Json;
  };
}

export type RunResult = (
  | {
      readonly status: 'ok';
      /** JSON text of what the function returned; undefined = nothing. */
      readonly output: string | undefined;
    }
  | { readonly status: 'error'; readonly error: RunFailure }
) & {
  /** Absent: none. Known of a run that was ended by force too, unless its process ended. */
  readonly dropped?: DroppedLines;
};

/** A definition as data: what a deployment reads from a bundle. Schemas are JSON Schema, draft 7. */
export interface FunctionDefinition {
  readonly type: DefinitionType;
  readonly description: string;
  readonly version: string;
  readonly scopes: readonly string[];
  /** Null when the function declares none or `z.void()`. */
  readonly metadata: JsonObject | null;
  readonly checkpoint: JsonObject | null;
  readonly hasExec: boolean;
  // syncs
  readonly frequency: string | null;
  readonly models: Readonly<Record<string, JsonObject>>;
  readonly autoStart: boolean;
  readonly syncType: 'full' | 'incremental';
  readonly trackDeletes: boolean;
  readonly webhookSubscriptions: readonly string[];
  readonly hasOnWebhook: boolean;
  readonly endpoints: readonly JsonObject[];
  // actions
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly endpoint: JsonObject | null;
  // on-events
  readonly event: string | null;
  /** Of an on-change function, which names its models: their schemas are those of syncs. */
  readonly delivery?: ChangeDelivery;
  // projections
  readonly projection?: ProjectionDefinition;
}

/** What a projection declares besides its mapping. */
export interface ProjectionDefinition {
  /** Models of which it takes the records. */
  readonly models: readonly string[];
  /** Unique keys of the integrations whose records it takes; null = of all. */
  readonly integrations: readonly string[] | null;
  /** JSON Schema of a row, draft 7. */
  readonly row: JsonObject;
  /** Columns that are unique together; empty = every row stands for itself. */
  readonly key: readonly string[];
  readonly hasMap: boolean;
}

/** Changes of records to map into rows. */
export interface MapRequest {
  /** CommonJS text whose default export is a projection. */
  readonly bundle: string;
  readonly fileName: string;
  /** JSON text of a list of changes, as `ProjectedChange` of the SDK has them. */
  readonly changes: string;
  readonly limits: RunLimits;
  readonly signal: AbortSignal;
}

/** The first character of the line of a change that could not be mapped; the rest is why. */
export const notMapped = '!';

/**
 * Runs untrusted code: each run in an isolate of its own that is never reused, in another process that holds no
 * secrets. Only JSON text crosses. After a run has ended, its calls have no effect.
 */
export interface Sandbox extends AsyncDisposable {
  /**
   * Resolves when the function has ended, in whatever way.
   * @throws GatewayError `execution_environment_unavailable`: not started, no capacity is free.
   */
  run(request: RunRequest, host: HostCalls): Promise<RunResult>;

  /**
   * Loads a bundle and returns its definition; nothing outside is reachable while it loads.
   * @throws GatewayError `compilation_error` that names the problem.
   */
  describe(bundle: string, fileName: string): Promise<FunctionDefinition>;
}

/** Maps changes by untrusted code, in isolates as those of the sandbox. */
export interface ChangeMapper extends AsyncDisposable {
  /**
   * Maps changes into rows; nothing outside is reachable meanwhile. The output has a line for each change, in their order:
   * JSON of a list of columns, each with the values of all rows, or `notMapped` and a message.
   * @throws GatewayError `execution_environment_unavailable`: not started, no capacity is free.
   */
  map(request: MapRequest): Promise<RunResult>;
}
