/** A named parameter of a statement, written `{name:Type}`. */
export type SqlParam = string | number | bigint | boolean | readonly string[] | readonly number[];
export type SqlParams = Readonly<Record<string, SqlParam>>;

export interface Insert {
  readonly table: string;
  readonly columns: readonly string[];
  /** Rows as tab-separated text in UTF-8, in the order of `columns` (written by `TabWriter` of rows.ts). */
  readonly rows: Uint8Array;
  /** Two inserts with the same token insert once, within the table's deduplication window. */
  readonly deduplicationToken: string;
  /** Default `insert`. */
  readonly queryClass?: QueryClass;
}

/** Query classes use separate connections, so that quick queries do not wait for slow ones. */
export type QueryClass = 'insert' | 'build' | 'page' | 'heavy' | 'cleanup';

/** A part of a table that cannot be read correctly any more. */
export interface DamagedPart {
  /** Empty where the error names none. */
  readonly table: string;
  readonly part: string;
  /** What the engine found. */
  readonly reason: string;
}

/** The cause of `projection_damaged`. */
export class PartCorruption extends Error {
  override readonly name = 'PartCorruption';
  readonly damaged: DamagedPart;

  constructor(damaged: DamagedPart, options?: ErrorOptions) {
    const part = damaged.part === '' ? '' : `, part ${damaged.part}`;
    super(`the table ${damaged.table}${part}: ${damaged.reason}`, options);
    this.damaged = damaged;
  }
}

/** Null: the error is another one. */
export const damagedPartOf = (error: unknown): DamagedPart | null =>
  error instanceof Error && error.cause instanceof PartCorruption ? error.cause.damaged : null;

/** Reads rows of the tables as objects. */
export interface RowQueries {
  /** The result as objects, for small results. 64-bit integers are strings. */
  queryRows<T>(sql: string, params?: SqlParams, queryClass?: QueryClass): Promise<T[]>;
}

/**
 * Columnar tables for queries of the past and for pages of records. All of it is derived from the log and can be
 * rebuilt. Every method that reads rows may also fail with `projection_damaged`, until the table is rebuilt.
 */
export interface ProjectionStore extends RowQueries, AsyncDisposable {
  /**
   * Creates the table or view if it is missing.
   * @throws GatewayError `projection_unavailable`: may or may not have been created.
   */
  create(definition: TableDefinition | ViewDefinition): Promise<void>;
  /** Removes the table or view if it exists, a view before the table that it feeds. Throws as `create`. */
  drop(name: string): Promise<void>;
  /**
   * Runs a statement without a result (OPTIMIZE, ALTER, DELETE). Use `create` for tables.
   * @throws GatewayError `projection_unavailable`: may or may not have run.
   */
  command(
    sql: string,
    options?: { readonly queryClass?: QueryClass; readonly params?: SqlParams },
  ): Promise<void>;
  /**
   * Durable and readable when it resolves; rows of one partition of the table become readable at once.
   * @throws GatewayError `projection_unavailable`: may or may not be written; `projection_refused`: the rows do not
   *   fit the table, nothing was written.
   */
  insert(insert: Insert): Promise<void>;
  /**
   * The result as binary rows (read by `RowReader` of rows.ts). Settings belong in the SQL text.
   * @throws GatewayError `projection_unavailable`
   */
  queryBinary(sql: string, params?: SqlParams, queryClass?: QueryClass): Promise<Buffer>;
}

/** A query that a caller wrote. */
export interface CallerQuery {
  /** One SELECT, which names no database. */
  readonly sql: string;
  /** Which views it may read. */
  readonly scope: string;
  /** In which form the rows are returned. */
  readonly format: CallerFormat;
  readonly limits: CallerLimits;
}

export type CallerFormat = 'json' | 'csv' | 'parquet' | 'table';

export interface CallerLimits {
  readonly seconds: number;
  readonly memoryBytes: number;
  readonly rows: number;
  readonly resultBytes: number;
}

/** Everything that the queries of one scope can read: views, in a database that has nothing else. */
export interface CallerViews {
  /** Letters, digits and `_`. */
  readonly scope: string;
  /** Stored with each view: views of the same version are kept as they are. */
  readonly version: string;
  readonly views: readonly ReadView[];
}

/** A view; tables that `select` names are those of the store. */
export interface ReadView {
  readonly name: string;
  readonly select: string;
}

/** Queries of callers. */
export interface CallerQueries {
  /** Makes the views, in place of those that were there. Throws as `create` of the store. */
  showViews(views: CallerViews): Promise<void>;
  /** Scopes that have views. */
  shownScopes(): Promise<readonly string[]>;
  /** Removes the views of the scope and their database. */
  dropViews(scope: string): Promise<void>;
  /**
   * The rows in the form of the format.
   * @throws GatewayError `sql_refused`: the query is not one SELECT over its views; `sql_failed`: the engine cannot
   *   run it; `sql_limit`: it has reached a limit; `projection_unavailable`
   */
  runCallerQuery(query: CallerQuery): Promise<Buffer>;
}

/** A store that also runs the queries of callers. */
export type QueryableStore = ProjectionStore & CallerQueries;

/** A table as data: the store decides whether it is on one node or replicated. */
export interface TableDefinition {
  readonly name: string;
  /** Columns and indexes, each as in a CREATE statement. */
  readonly columns: readonly string[];
  /** Of the MergeTree family, written as for a table on one node. */
  readonly engine: string;
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  /** How many insert tokens the table remembers; 0 = no deduplication. */
  readonly tokensKept: number;
  /** When a row expires, as an expression of its columns. */
  readonly ttl?: string;
  readonly settings?: Readonly<Record<string, number>>;
}

/** Rows inserted into the source table of `select` are also inserted into `to`, in the form of `select`. */
export interface ViewDefinition {
  readonly name: string;
  readonly to: string;
  readonly select: string;
}

/** The table of completed migrations. */
export const migrationsTableName = 'projection_migrations';

/** Creates a table or view, or runs a statement that changes their content. */
export type MigrationStep = TableDefinition | ViewDefinition | string;

/** A step of the tables' migrations. It may run twice: a crash may occur before it is recorded. */
export interface Migration {
  /** Ascending within its projection; never reused. */
  readonly number: number;
  readonly projection: string;
  readonly steps: readonly MigrationStep[];
}
