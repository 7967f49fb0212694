import type { JSX } from 'preact';
import type { Column, SortValue } from './column.ts';
import { Icon } from './icon.tsx';
import { classOf, TableRow } from './table-row.tsx';

/** How the rows are sorted, and what a press on a header does. */
export interface Sort {
  /** Title of the column; null: the order of the list. */
  readonly title: string | null;
  readonly isDescending: boolean;
  readonly onSort: (title: string) => void;
}

export interface CommonProps<Row> {
  /** Names the table for those who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Absent where only a part of the rows is known: they stay in the order of the list. */
  readonly sort?: Sort | undefined;
  /** Opens what a row is about, where its first column is no link to it. */
  readonly onOpen?: (row: Row) => void;
}

export interface TableProps<Row> extends CommonProps<Row> {
  readonly rows: readonly Row[];
}

/** A table all of whose rows are in the document: of a few, on a page that has no longer one. */
export function ShortTable<Row>(props: TableProps<Row>): JSX.Element {
  const columns = placed(props.columns);
  const rows = sorted(props.rows, columns, props.sort);
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={props.label}>
      <table class={tableClassOf(columns)}>
        <Head {...props} />
        <tbody>
          {rows.map((row) => (
            <TableRow key={props.keyOf(row)} row={row} columns={columns} onOpen={props.onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type NarrowPlaces = readonly Pick<Column<never>, 'narrow'>[];

export const canStack = (columns: NarrowPlaces): boolean =>
  columns.some(({ narrow }) => narrow !== undefined);

export const tableClassOf = (columns: NarrowPlaces): string =>
  canStack(columns) ? 'table stacks' : 'table';

/** The first column is at the top unless another one is. */
export function placed<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  if (!canStack(columns) || columns.some(({ narrow }) => narrow === 'top')) return columns;
  return columns.map((column, at) => (at === 0 ? { ...column, narrow: 'top' } : column));
}

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort?: Sort | undefined;
}

export function Head<Row>({ columns, sort }: HeadProps<Row>): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const { title, sortBy } = column;
          const isSorted = sort?.title === title;
          const order = sort?.isDescending === true ? 'descending' : 'ascending';
          return (
            <th
              key={title}
              scope="col"
              class={classOf(column)}
              aria-sort={isSorted ? order : undefined}
            >
              {title === '' && <span class="visually-hidden">Actions</span>}
              {sort === undefined || sortBy === undefined ? (
                title
              ) : (
                <button type="button" class="sort" onClick={() => sort.onSort(title)}>
                  {title}
                  <Icon name={isSorted ? (sort.isDescending ? 'down' : 'up') : 'sort'} />
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Rows without a value come last in both orders. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sort: Sort | undefined,
): readonly Row[] {
  const sortBy = columns.find(({ title }) => title === sort?.title)?.sortBy;
  if (sort === undefined || sortBy === undefined) return rows;
  const compare = (left: SortValue, right: SortValue): number => {
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const order =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : collator.compare(String(left), String(right));
    return sort.isDescending ? -order : order;
  };
  return rows.toSorted((left, right) => compare(sortBy(left), sortBy(right)));
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
