/** Lines around a change that are shown with it. */
const contextLines = 3;

type Mark = ' ' | '-' | '+';
interface MarkedLine {
  readonly mark: Mark;
  readonly text: string;
}

/** The lines of a change of one text into another, with `-` and `+` before them; empty when both are equal. */
export function lineDifference(before: string, after: string): readonly string[] {
  const lines = markedLines(before.split('\n'), after.split('\n'));
  const changed = lines.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]));
  const shown: string[] = [];
  let last = -1;
  for (const [at, { mark, text }] of lines.entries()) {
    if (!changed.some((one) => Math.abs(one - at) <= contextLines)) continue;
    if (last >= 0 && at > last + 1) shown.push('…');
    shown.push(`${mark} ${text}`.trimEnd());
    last = at;
  }
  return shown;
}

/** By the longest common subsequence: files of templates are short. */
function markedLines(before: readonly string[], after: readonly string[]): MarkedLine[] {
  const lengths = Array.from({ length: before.length + 1 }, () =>
    new Array<number>(after.length + 1).fill(0),
  );
  const lengthAt = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const common =
        before[row] === after[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1));
      lengths[row]?.splice(column, 1, common);
    }
  }
  const lines: MarkedLine[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const old = before[row];
    const fresh = after[column];
    if (old !== undefined && old === fresh) {
      lines.push({ mark: ' ', text: old });
      row++;
      column++;
    } else if (
      old !== undefined &&
      (fresh === undefined || lengthAt(row + 1, column) >= lengthAt(row, column + 1))
    ) {
      lines.push({ mark: '-', text: old });
      row++;
    } else {
      lines.push({ mark: '+', text: fresh ?? '' });
      column++;
    }
  }
  return lines;
}
