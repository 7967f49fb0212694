export const logLevels = ['debug', 'info', 'warn', 'error', 'off'] as const;
/** Entries below this level are dropped; `off` drops all. */
export type LoggerLevel = (typeof logLevels)[number];
export type EntryLevel = Exclude<LoggerLevel, 'off'>;
export type OperationState = 'running' | 'success' | 'failed' | 'cancelled' | 'timeout';

/** What an operation does, as `POST /logs/operations` filters by it. */
export type OperationType =
  | 'auth:create_connection'
  | 'auth:refresh_token'
  | 'auth:connection_test'
  | 'auth:revoke_token'
  | 'proxy:call'
  | 'records:revert'
  | 'sync:run'
  | 'action:run'
  | 'change:run'
  | 'webhook:incoming'
  /** A function that runs on the event. */
  | `events:${string}`
  /** A webhook to the application, of the kind. */
  | `webhook:${string}`;

/** The subject of a log operation. */
export interface OperationOf {
  /** For a run, the run's id. */
  readonly operationId: string;
  readonly operationType: OperationType;
  readonly environmentUid: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly runId?: string;
  /** The function that runs. */
  readonly functionName?: string;
}

/** One operation of the user-visible log. Calls neither wait nor fail: logging never fails a run. */
export interface Operation {
  /**
   * Kept whatever its level: the caller has filtered the lines of user code. Anything that looks like a secret is
   * removed from text and context.
   */
  write(
    level: EntryLevel,
    message: string,
    contextJson?: string | null,
    source?: 'internal' | 'user',
  ): void;
  end(
    state: OperationState,
    message: string,
    more?: {
      /** Ended through no fault of its own and is retried. */
      readonly isInterrupted: boolean;
    },
  ): void;
}

/** Counters of an operation that has ended, or of one of its attempts that did not end it. */
export interface OperationOutcome {
  readonly operationType: string;
  /** For a run. */
  readonly runId?: string;
  readonly integration: string;
  readonly state: OperationState;
  readonly tookMs: number;
  readonly isInterrupted: boolean;
  /** Status of the provider's response to a proxied call; null without a response. */
  readonly providerStatus: number | null;
}

/**
 * An operation that consists of one entry, or one of its attempts, where `running` means that more follow. Its text
 * is evaluated when the entry is written, after the logged work.
 */
export interface NotedOperation {
  readonly state: OperationState;
  readonly text: string;
  /** Contains no secret. */
  readonly contextJson: string;
  /** Since the operation began. */
  readonly tookMs: number;
  /** For a proxied call; null when the provider did not respond. */
  readonly providerStatus?: number | null;
}

/** The user-visible log: what happened in an environment. */
export interface OperationLogs extends AsyncDisposable {
  begin(operationOf: OperationOf, message: string): Operation;
  /** One entry for an operation that has already ended. */
  note(operation: OperationOf, noted: NotedOperation): void;
  /** Resolves when everything written so far is in the log, or was dropped. */
  flush(): Promise<void>;
}
