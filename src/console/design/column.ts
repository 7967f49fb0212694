import type { ComponentChildren } from 'preact';

export type SortValue = string | number | null;

export interface Column<Row> {
  readonly title: string;
  /**
   * `tight`: as wide as its content; `end`: numbers; `short`: as wide as its content up to 16rem, with an ellipsis. Others share the
   * width that is left.
   */
  readonly fit?: 'tight' | 'end' | 'short';
  /**
   * Where the cell stands in the rows of two lines that a narrow table has. A table whose columns have none keeps its
   * columns; in others, columns without one are left out there.
   */
  readonly narrow?: 'top' | 'top end' | 'below' | 'below end';
  /** Makes the column sortable in a table that may sort. */
  readonly sortBy?: (row: Row) => SortValue;
  readonly cell: (row: Row) => ComponentChildren;
}
