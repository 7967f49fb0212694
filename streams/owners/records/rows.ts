import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type Value = string | number | null | Uint8Array;

/** Gathers rows and writes them many at a time: a call into SQLite costs more than a row. */
export interface RowWriter {
  add(...values: Value[]): void;
  /** Whether the next row makes it write. */
  readonly isNearlyFull: boolean;
  flush(): void;
  /** Drops what was not flushed. */
  forget(): void;
}

/** Large enough to spread the cost of a call, small enough to stay under SQLite's limit of variables. */
const rowsMax = 32;

/** `columns` values make a row. */
export function createRows(
  db: DatabaseSync,
  before: string,
  columns: number,
  after = '',
): RowWriter {
  const statements: StatementSync[] = [];
  const row = `(${Array<string>(columns).fill('?').join(',')})`;
  let values: Value[] = [];

  function flush(): void {
    if (values.length === 0) return;
    const rows = values.length / columns;
    const sql = () => `${before} ${Array<string>(rows).fill(row).join(',')}${after}`;
    (statements[rows] ??= db.prepare(sql())).run(...values);
    values = [];
  }

  return {
    add(...added) {
      for (const value of added) values.push(value);
      if (values.length === rowsMax * columns) flush();
    },
    get isNearlyFull() {
      return values.length === (rowsMax - 1) * columns;
    },
    flush,
    forget() {
      values = [];
    },
  };
}
