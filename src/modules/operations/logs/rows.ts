/** An operation in the table; 64-bit numbers are strings. */
export interface OperationRow {
  readonly operation_id: string;
  /** µs. */
  readonly started: string;
  readonly updated: string;
  /** `sync:run` */
  readonly type: string;
  readonly last_state: string;
  readonly last_level: string;
  readonly text: string;
  /** JSON, or empty. */
  readonly more: string;
  readonly of_integration: string;
  readonly of_connection: string;
  readonly of_function: string;
  readonly of_run: string;
}

/** A message of an operation. */
export interface EntryRow {
  readonly log_offset: string;
  readonly id: string;
  readonly parent: string;
  /** µs. */
  readonly happened: string;
  readonly type: string;
  readonly status: string;
  readonly severity: string;
  readonly writer: string;
  readonly text: string;
  /** JSON, or empty. */
  readonly more: string;
}
