/** A value that a statement takes by name as `{name:Type}`. */
export type SqlParam = string | number | bigint | boolean | readonly string[] | readonly number[];
export type SqlParams = Readonly<Record<string, SqlParam>>;

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  /** Rows as tab separated text in UTF-8, in the order of `columns` (made by `TabWriter` of rows.ts). */
  readonly rows: Uint8Array;
  /** The same token twice inserts once, within the table's deduplication window. */
  readonly deduplicationToken: string;
  /** Default `insert`. */
  readonly lane?: Lane;
}

/** Lanes keep quick questions from waiting for slow ones: connections of their own (measured.md section 6). */
export type Lane = 'insert' | 'build' | 'page' | 'heavy' | 'cleanup';

/**
 * Columnar tables that answer questions about the past and the pages of records. Everything in it is
 * derived from the log and can be rebuilt.
 */
export interface ProjectionStore extends AsyncDisposable {
  /**
   * Runs a statement that returns nothing (DDL, OPTIMIZE, DELETE).
   * @throws GatewayError `projection_unavailable`: may or may not have run.
   */
  command(
    sql: string,
    options?: { readonly lane?: Lane; readonly params?: SqlParams },
  ): Promise<void>;
  /**
   * Durable and readable when it resolves; what falls into one partition of the table becomes readable
   * at once.
   * @throws GatewayError `projection_unavailable`: may or may not be written; `projection_refused`: the
   *   rows do not fit the table, nothing was written.
   */
  insert(insert: Insert): Promise<void>;
  /**
   * The answer as binary rows (read by `RowReader` of rows.ts). Settings belong into the SQL text.
   * @throws GatewayError `projection_unavailable`
   */
  queryBinary(sql: string, params?: SqlParams, lane?: Lane): Promise<Buffer>;
  /** The answer as objects, for small results. 64-bit integers come as strings. */
  queryRows<T>(sql: string, params?: SqlParams, lane?: Lane): Promise<T[]>;
}

/** A step of the tables' history. Its statements may run twice: a crash may come between them and the note. */
export interface Migration {
  /** Ascending within its projection; never used again. */
  readonly number: number;
  readonly projection: string;
  readonly statements: readonly string[];
}
