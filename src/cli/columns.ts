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
