import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import type { Column, SortValue } from './column.ts';
import { Icon } from './icon.tsx';
import { classOf, TableRow } from './table-row.tsx';

export type { Column } from './column.ts';

/** How the rows are sorted, and what a press on a header does. */
export interface Sort {
  /** Title of the column; null: the order of the list. */
  readonly title: string | null;
  readonly isDescending: boolean;
  readonly onSort: (title: string) => void;
}

interface CommonProps<Row> {
  /** Names the table for those who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Absent where only a part of the rows is known: they stay in the order of the list. */
  readonly sort?: Sort | undefined;
  /** Opens what a row is about, where its first column is no link to it. */
  readonly onOpen?: (row: Row) => void;
}

interface TableProps<Row> extends CommonProps<Row> {
  readonly rows: readonly Row[];
}

/** Rows of which only some are known at a time. */
interface RowSource<Row> {
  readonly count: number;
  readonly hasMore: boolean;
  /** Undefined while the row is read. */
  readonly at: (index: number) => Row | undefined;
  /** Called with the rows that are in the document. */
  readonly show: (first: number, last: number) => void;
}

interface SourceProps<Row> extends CommonProps<Row> {
  readonly source: RowSource<Row>;
}

/** Above this number only the rows in view are in the document. */
const plainUpTo = 100;

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const rows = sorted(props.rows, props.columns, props.sort);
  if (rows.length <= plainUpTo) return <PlainTable {...props} rows={rows} />;
  return <VirtualTable {...props} source={sourceOf(rows)} />;
}

const sourceOf = <Row,>(rows: readonly Row[]): RowSource<Row> => ({
  count: rows.length,
  hasMore: false,
  at: (index) => rows[index],
  show: () => undefined,
});

/** A table of any length, whose rows are read while it is scrolled. */
export function ScrolledTable<Row>(props: SourceProps<Row>): JSX.Element {
  const { count, hasMore, at } = props.source;
  if (hasMore || count > plainUpTo) return <VirtualTable {...props} sort={undefined} />;
  const rows = Array.from({ length: count }, (_, index) => at(index));
  return <Table {...props} rows={rows.filter((row) => row !== undefined)} />;
}

function PlainTable<Row>(props: TableProps<Row>): JSX.Element {
  const columns = placed(props.columns);
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={props.label}>
      <table class={tableClassOf(columns)}>
        <Head {...props} />
        <tbody>
          {props.rows.map((row) => (
            <TableRow key={props.keyOf(row)} row={row} columns={columns} onOpen={props.onOpen} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type NarrowPlaces = readonly Pick<Column<never>, 'narrow'>[];

const canStack = (columns: NarrowPlaces): boolean =>
  columns.some(({ narrow }) => narrow !== undefined);

const tableClassOf = (columns: NarrowPlaces): string =>
  canStack(columns) ? 'table stacks' : 'table';

/** The first column is at the top unless another one is. */
function placed<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  if (!canStack(columns) || columns.some(({ narrow }) => narrow === 'top')) return columns;
  return columns.map((column, at) => (at === 0 ? { ...column, narrow: 'top' } : column));
}

/** Of a row of one line, and of one of two lines (`surfaces.css`). */
const rowHeight = { wide: 40, stacked: 64 };
/** The width of a frame, in px, below which rows have two lines. */
const stackedBelow = 704;

function VirtualTable<Row>(props: SourceProps<Row>): JSX.Element {
  const { source, keyOf, label, onOpen } = props;
  const columns = placed(props.columns);
  const frame = useRef<HTMLDivElement>(null);
  const { items, total } = useVirtualRows(source.count, frame, canStack(columns));
  const first = items[0];
  const last = items.at(-1);
  useEffect(() => {
    if (first !== undefined && last !== undefined) source.show(first.index, last.index);
  });
  return (
    <div class="table-frame virtual" ref={frame} tabIndex={0} role="region" aria-label={label}>
      <table class={tableClassOf(columns)} aria-rowcount={source.hasMore ? -1 : source.count + 1}>
        <Head {...props} />
        <tbody>
          <Spacer height={first?.start ?? 0} columns={columns.length} />
          {items.map(({ index }) => {
            const row = source.at(index);
            if (row === undefined) return <PendingRow key={index} columns={columns.length} />;
            return <TableRow key={keyOf(row)} row={row} columns={columns} onOpen={onOpen} />;
          })}
          <Spacer height={total - (last?.end ?? 0)} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function useVirtualRows(
  count: number,
  frame: { readonly current: HTMLDivElement | null },
  hasStacks: boolean,
) {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  const isStacked = hasStacks && (frame.current?.clientWidth ?? Infinity) < stackedBelow;
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => (isStacked ? rowHeight.stacked : rowHeight.wide),
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLDivElement, Element>(options), []);
  virtualizer.setOptions(options);
  // Before the browser paints: a frame without rows would come first.
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, isStacked]);
  return { items: virtualizer.getVirtualItems(), total: virtualizer.getTotalSize() };
}

const PendingRow = ({ columns }: { readonly columns: number }): JSX.Element => (
  <tr aria-busy="true">
    <td colSpan={columns} />
  </tr>
);

/** Takes the place of the rows that are not in the document. */
function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  if (height <= 0) return null;
  return (
    <tr class="spacer" aria-hidden="true" style={{ '--height': `${height}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}

interface HeadProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly sort?: Sort | undefined;
}

function Head<Row>({ columns, sort }: HeadProps<Row>): JSX.Element {
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
function sorted<Row>(
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
