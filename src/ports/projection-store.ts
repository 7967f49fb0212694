/** A value that a statement takes by name as `{name:Type}`. */
export type SqlParam = string | number | bigint | boolean | readonly string[] | readonly number[];

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  /** Rows in ClickHouse's RowBinary format, in the order of `columns`. */
  readonly rowBinary: Uint8Array;
  /** The same token twice inserts once, within the table's deduplication window. */
  readonly deduplicationToken: string;
}

/** Lanes keep quick questions from waiting for slow ones: one connection each (measured.md section 6). */
export type Lane = 'insert' | 'page' | 'heavy' | 'cleanup';

/**
 * Columnar tables that answer questions about the past and the pages of records. Everything in it is
 * derived from the log and can be rebuilt.
 */
export interface ProjectionStore extends AsyncDisposable {
  /** Runs a statement that returns nothing (DDL, OPTIMIZE, DELETE). */
  command(sql: string, options?: { readonly lane?: Lane; readonly params?: Readonly<Record<string, SqlParam>> }): Promise<void>;
  /** Durable and readable when it resolves. @throws GatewayError `projection_unavailable`: may or may not be written. */
  insert(insert: Insert): Promise<void>;
  /** The answer in RowBinary. Settings belong into the SQL text. @throws GatewayError `projection_unavailable` */
  queryBinary(sql: string, params?: Readonly<Record<string, SqlParam>>, lane?: Lane): Promise<Buffer>;
  /** The answer as objects, for small results. UInt64 come as strings. */
  queryRows<T>(sql: string, params?: Readonly<Record<string, SqlParam>>, lane?: Lane): Promise<T[]>;
}
