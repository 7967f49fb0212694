import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type Value = string | number | null | Uint8Array;

/** Gathers rows and writes them many at a time: a call into SQLite costs more than a row. */
export interface RowWriter {
  add(...values: Value[]): void;
  /** Writes what was gathered. */
  flush(): void;
}

/** Large enough to spread the cost of a call, small enough to stay under SQLite's limit of variables. */
const rowsMax = 96;

/** `columns` values make a row. */
export function createRows(db: DatabaseSync, before: string, columns: number): RowWriter {
  const statements: StatementSync[] = [];
  const row = `(${Array<string>(columns).fill('?').join(',')})`;
  const step = rowsMax * columns;
  let values: Value[] = [];

  function write(some: readonly Value[]): void {
    const rows = some.length / columns;
    const sql = () => `${before} ${Array<string>(rows).fill(row).join(',')}`;
    (statements[rows] ??= db.prepare(sql())).run(...some);
  }

  return {
    add(...added) {
      for (const value of added) values.push(value);
    },
    flush() {
      for (let at = 0; at < values.length; at += step) write(values.slice(at, at + step));
      values = [];
    },
  };
}
