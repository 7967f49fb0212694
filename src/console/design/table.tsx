import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';

export interface Column<Row> {
  readonly title: string;
  /** `tight`: as wide as its content; `end`: numbers. */
  readonly fit?: 'tight' | 'end';
  readonly cell: (row: Row) => ComponentChildren;
}

interface CommonProps<Row> {
  /** Names the table for those who do not see it. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
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
  const { rows } = props;
  if (rows.length <= plainUpTo) return <PlainTable {...props} />;
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
  if (hasMore || count > plainUpTo) return <VirtualTable {...props} />;
  const rows = Array.from({ length: count }, (_, index) => at(index));
  return <PlainTable {...props} rows={rows.filter((row) => row !== undefined)} />;
}

function PlainTable<Row>(props: TableProps<Row>): JSX.Element {
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={props.label}>
      <table class="table">
        <Head {...props} />
        <tbody>
          {props.rows.map((row) => (
            <Cells key={props.keyOf(row)} row={row} columns={props.columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rowHeight = 40;

function VirtualTable<Row>(props: SourceProps<Row>): JSX.Element {
  const { source, columns, keyOf, label } = props;
  const frame = useRef<HTMLDivElement>(null);
  const { items, total } = useVirtualRows(source.count, frame);
  const first = items[0];
  const last = items.at(-1);
  useEffect(() => {
    if (first !== undefined && last !== undefined) source.show(first.index, last.index);
  });
  return (
    <div class="table-frame virtual" ref={frame} tabIndex={0} role="region" aria-label={label}>
      <table class="table" aria-rowcount={source.hasMore ? -1 : source.count + 1}>
        <Head {...props} />
        <tbody>
          <Spacer height={first?.start ?? 0} columns={columns.length} />
          {items.map(({ index }) => {
            const row = source.at(index);
            if (row === undefined) return <PendingRow key={index} columns={columns.length} />;
            return <Cells key={keyOf(row)} row={row} columns={columns} />;
          })}
          <Spacer height={total - (last?.end ?? 0)} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

function useVirtualRows(count: number, frame: { readonly current: HTMLDivElement | null }) {
  const [, render] = useReducer((turn: number) => turn + 1, 0);
  const options = {
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
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

function Head<Row>({ columns }: Pick<TableProps<Row>, 'columns'>): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map(({ title, fit }) => (
          <th key={title} scope="col" class={fit}>
            {title === '' ? <span class="visually-hidden">Actions</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface CellsProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}

function Cells<Row>({ row, columns }: CellsProps<Row>): JSX.Element {
  return (
    <tr>
      {columns.map(({ title, fit, cell }) => (
        <td key={title} class={fit === 'end' ? 'end number' : fit}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}
