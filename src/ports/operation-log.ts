export const logLevels = ['debug', 'info', 'warn', 'error', 'off'] as const;
/** Entries below it are dropped; `off` drops all. */
export type LoggerLevel = (typeof logLevels)[number];
export type EntryLevel = Exclude<LoggerLevel, 'off'>;
export type OperationState = 'running' | 'success' | 'failed' | 'cancelled' | 'timeout';

/** What a log operation is about. */
export interface OperationOf {
  /** Of a run it is the run's id. */
  readonly operationId: string;
  /** For example `sync:run`. */
  readonly operationType: string;
  readonly environmentUid: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly runId?: string;
  /** The function that it runs. */
  readonly functionName?: string;
}

/** One operation of the log that users read. Nothing here waits or fails: logging never fails a run. */
export interface Operation {
  /**
   * Kept whatever its level: the caller has filtered what user code wrote. What looks like a secret is taken out of
   * text and context.
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
      /** Through no fault of its own: it is tried again. */
      readonly isInterrupted: boolean;
    },
  ): void;
}

/** What is counted of an operation that has ended, or of one of its tries that did not end it. */
export interface OperationOutcome {
  readonly operationType: string;
  /** Of a run. */
  readonly runId?: string;
  readonly integration: string;
  readonly state: OperationState;
  readonly tookMs: number;
  readonly isInterrupted: boolean;
  /** Of the provider's answer to a proxied call; null where there was none. */
  readonly providerStatus: number | null;
}

/**
 * An operation of which one entry says all; or one of its tries, where `running` says that more will follow. Its text is
 * read when the entry is written, after the work that it is about.
 */
export interface NotedOperation {
  readonly state: OperationState;
  readonly text: string;
  /** Without any secret. */
  readonly contextJson: string;
  /** Since the operation began. */
  readonly tookMs: number;
  /** Of a proxied call; null where the provider did not answer. */
  readonly providerStatus?: number | null;
}

/** The log that users read: what was done in their environment. */
export interface OperationLogs extends AsyncDisposable {
  begin(operationOf: OperationOf, message: string): Operation;
  /** One entry for what has happened already. */
  note(operation: OperationOf, noted: NotedOperation): void;
  /** Resolves when everything written so far is in the log, or was given up. */
  flush(): Promise<void>;
}
