import { printable } from '#kernel/printable.ts';
import type { Context } from './context.ts';

type Cells = readonly (string | number)[];

const nothing = { left: '', right: '', 'left-mid': '', 'right-mid': '', mid: '', 'mid-mid': '' };
const noTop = { top: '', 'top-mid': '', 'top-left': '', 'top-right': '' };
const noBottom = { bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' };
/** Without lines, so that each row is one line of text that other programs can read. */
const chars = { ...nothing, ...noTop, ...noBottom, middle: '  ' };

/** Rows as aligned lines below their headings: the first `left` columns aligned left, the others right. */
export async function columns(
  heads: readonly string[],
  rows: readonly Cells[],
  left: number,
): Promise<string[]> {
  // A command that prints no table does not load it.
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    chars,
    style: { 'padding-left': 0, 'padding-right': 0, border: [], compact: true },
    colAligns: heads.map((_head, at) => (at < left ? 'left' : 'right')),
  });
  table.push([...heads], ...rows.map((cells) => cells.map((cell) => printable(String(cell)))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** Rows as a table, its first `left` columns aligned left, or as one JSON document. */
export async function showRows<T>(
  { output }: Pick<Context, 'output'>,
  isJson: boolean | undefined,
  rows: readonly T[],
  heads: readonly string[],
  cells: (row: T) => Cells,
  left = heads.length,
): Promise<void> {
  if (isJson === true) output.result(JSON.stringify(rows));
  else for (const line of await columns(heads, rows.map(cells), left)) output.result(line);
}
