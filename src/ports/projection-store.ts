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
  readonly queryClass?: QueryClass;
}

/** Lanes keep quick questions from waiting for slow ones: connections of their own. */
export type QueryClass = 'insert' | 'build' | 'page' | 'heavy' | 'cleanup';

/**
 * Columnar tables that answer questions about the past and the pages of records. Everything in it is
 * derived from the log and can be rebuilt.
 */
export interface ProjectionStore extends AsyncDisposable {
  /**
   * Makes the table or view where it is missing.
   * @throws GatewayError `projection_unavailable`: may or may not have been made.
   */
  create(definition: TableDefinition | ViewDefinition): Promise<void>;
  /** Removes the table or view where it is there, a view before the table that it feeds. Throws as `create`. */
  drop(name: string): Promise<void>;
  /**
   * Runs a statement that returns nothing (OPTIMIZE, ALTER, DELETE). Tables are made by `create`.
   * @throws GatewayError `projection_unavailable`: may or may not have run.
   */
  command(
    sql: string,
    options?: { readonly queryClass?: QueryClass; readonly params?: SqlParams },
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
  queryBinary(sql: string, params?: SqlParams, queryClass?: QueryClass): Promise<Buffer>;
  /** The answer as objects, for small results. 64-bit integers come as strings. */
  queryRows<T>(sql: string, params?: SqlParams, queryClass?: QueryClass): Promise<T[]>;
}

/** A table as data: where it is kept, on one node or replicated on several, is the store's to say. */
export interface TableDefinition {
  readonly name: string;
  /** Columns and indexes, each as in a CREATE statement. */
  readonly columns: readonly string[];
  /** Of the MergeTree family, as for a table on one node. */
  readonly engine: string;
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  /** How many tokens of inserts the table remembers; 0 = it takes each insert. */
  readonly tokensKept: number;
  /** When a row may go, as an expression of its columns. */
  readonly ttl?: string;
  readonly settings?: Readonly<Record<string, number>>;
}

/** What is inserted into the table of `select` is also inserted into `to`, in the form that `select` gives it. */
export interface ViewDefinition {
  readonly name: string;
  readonly to: string;
  readonly select: string;
}

/** Makes a table or view, or runs a statement that changes what is in them. */
export type MigrationStep = TableDefinition | ViewDefinition | string;

/** A step of the tables' history. It may run twice: a crash may come between it and its note. */
export interface Migration {
  /** Ascending within its projection; never used again. */
  readonly number: number;
  readonly projection: string;
  readonly steps: readonly MigrationStep[];
}
