import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type Row = Readonly<Record<string, unknown>>;

/** A filter: conditions that all must hold, and the values of their placeholders. */
export interface ViewFilter {
  readonly conditions: string[];
  readonly values: SQLInputValue[];
}

/** The tables of a view; each statement is prepared once. */
export class ViewTables {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  one(sql: string, ...values: SQLInputValue[]): Row | null {
    return this.#prepared(sql).get(...values) ?? null;
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepared(sql).run(...values);
  }

  /** Rows of the table in the order of the columns, after the position, which has a value for each of them. */
  page(
    table: string,
    { conditions, values }: ViewFilter,
    order: {
      readonly columns: readonly string[];
      readonly newestFirst: boolean;
      readonly beyond: readonly SQLInputValue[] | null;
      readonly limit: number;
    },
  ): Row[] {
    const { columns, newestFirst, beyond, limit } = order;
    const places = columns.map(() => '?').join(', ');
    const comes = `(${columns.join(', ')}) ${newestFirst ? '<' : '>'} (${places})`;
    const all = beyond === null ? conditions : [...conditions, comes];
    const by = columns.map((column) => (newestFirst ? `${column} DESC` : column)).join(', ');
    const sql = `SELECT * FROM ${table} WHERE ${all.join(' AND ') || '1'} ORDER BY ${by} LIMIT ?`;
    return this.all(sql, ...values, ...(beyond ?? []), limit);
  }

  #prepared(sql: string): StatementSync {
    const existing = this.#statements.get(sql);
    if (existing !== undefined) return existing;
    const prepared = this.#database.prepare(sql);
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/** The conditions, one placeholder each, whose value is present. */
export function where(wanted: Readonly<Record<string, SQLInputValue | undefined>>): ViewFilter {
  const found: ViewFilter = { conditions: [], values: [] };
  for (const [condition, value] of Object.entries(wanted)) {
    if (value === undefined) continue;
    found.conditions.push(condition);
    found.values.push(value);
  }
  return found;
}

type Columns = Readonly<Record<string, (value: unknown) => unknown>>;

/** Makes objects of rows: each field is read from the column of its name in snake case, or the one given for it. */
export function rowsOf<C extends Columns>(
  columns: C,
  named: Partial<Record<keyof C, string>> = {},
) {
  const readers = Object.entries(columns).map(([field, read]) => {
    const snake = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return [field, named[field] ?? snake, read] as const;
  });
  return (row: Row): { readonly [F in keyof C]: ReturnType<C[F]> } =>
    Object.fromEntries(readers.map(([field, column, read]) => [field, read(row[column])])) as never;
}

export const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' ? value : null;

export const numberOrNull = (value: unknown): number | null =>
  typeof value === 'number' ? value : null;

export const json = (value: unknown): unknown => JSON.parse(String(value));
