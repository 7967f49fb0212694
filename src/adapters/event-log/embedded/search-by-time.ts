/** The fields of a row that the search needs. */
export interface PeakedRow {
  readonly base: number;
  readonly next: number;
  readonly peak: number;
}

/**
 * The first row in [start, end) whose `peak` passes the test, found by bisection: peaks never decrease along a
 * partition. `rowAfter` finds the first row with `next` above a position.
 */
export function searchByPeak<Row extends PeakedRow>(
  rowAfter: (position: number) => Row | undefined,
  start: number,
  end: number,
  passes: (peak: number) => boolean,
): Row | null {
  let low = start;
  let high = end;
  let found: Row | null = null;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = rowAfter(middle);
    if (row === undefined) high = middle;
    else if (passes(row.peak)) {
      found = row;
      high = Math.min(middle, row.base);
    } else low = row.next;
  }
  return found;
}
