import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import {
  canStack,
  Head,
  placed,
  ShortTable,
  sorted,
  tableClassOf,
  type CommonProps,
  type TableProps,
} from './short-table.tsx';
import { TableRow } from './table-row.tsx';

export type { Column } from './column.ts';
export type { Sort } from './short-table.tsx';

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
  if (props.rows.length <= plainUpTo) return <ShortTable {...props} />;
  const rows = sorted(props.rows, props.columns, props.sort);
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
