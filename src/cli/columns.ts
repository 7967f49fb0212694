import type { Context } from './context.ts';

type Cells = readonly (string | number)[];

/** Rows as aligned lines below their headings: the first `left` columns aligned left, the others right. */
export function columns(heads: readonly string[], rows: readonly Cells[], left: number): string[] {
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...rows.map((row) => String(row[at] ?? '').length)),
  );
  return [heads, ...rows].map((cells: Cells) =>
    cells
      .map((cell, at) => {
        const width = widths[at] ?? 0;
        return at < left ? String(cell).padEnd(width) : String(cell).padStart(width);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Rows as a table, its first `left` columns aligned left, or as one JSON document. */
export function showRows<T>(
  { output }: Pick<Context, 'output'>,
  isJson: boolean | undefined,
  rows: readonly T[],
  heads: readonly string[],
  cells: (row: T) => Cells,
  left = heads.length,
): void {
  if (isJson === true) output.result(JSON.stringify(rows));
  else for (const line of columns(heads, rows.map(cells), left)) output.result(line);
}
