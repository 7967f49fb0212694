import type { JSX } from 'preact';
import type { Column } from './column.ts';

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  /** Opens what the row is about, in place of the first link of the row. */
  readonly onOpen?: ((row: Row) => void) | undefined;
}

/** A row that opens as a whole what its first link leads to; links, buttons and the selection of text keep working. */
export function TableRow<Row>({ row, columns, onOpen }: TableRowProps<Row>): JSX.Element {
  const press = (event: MouseEvent): void => {
    if (isOfControl(event.target) || hasSelection()) return;
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
    const link = linkOf(event.currentTarget);
    if (onOpen !== undefined && isPlain) onOpen(row);
    else if (link !== null && isPlain) link.click();
    else if (link !== null) window.open(link.href, '_blank', 'noopener');
  };
  return (
    <tr
      class={onOpen === undefined ? 'item' : 'item opens'}
      onClick={press}
      onAuxClick={(event) => {
        if (event.button === middleButton) press(event);
      }}
      onKeyDown={moveFocus}
    >
      {columns.map((column) => (
        <td key={column.title} class={classOf(column)} data-title={column.title}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

const middleButton = 1;

export const classOf = ({ title, fit, narrow }: Pick<Column<never>, 'title' | 'fit' | 'narrow'>) =>
  [
    fit ?? 'wide',
    fit === 'end' ? 'number' : '',
    title === '' ? 'actions' : narrow?.replace(' ', '-'),
  ]
    .filter(Boolean)
    .join(' ');

const isOfControl = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('a, button, input, select, textarea, label, summary, [role="menu"]') !== null;

/** Whoever selects a text of the row does not open it. */
const hasSelection = (): boolean => document.getSelection()?.isCollapsed === false;

const linkOf = (row: EventTarget | null): HTMLAnchorElement | null =>
  row instanceof Element
    ? row.querySelector<HTMLAnchorElement>('td:is(:first-child, .top) a[href]')
    : null;

const controls = 'td:is(:first-child, .top) a[href], td.actions button';

/** The arrow keys move from the link of a row to that of the next one. */
function moveFocus(event: KeyboardEvent): void {
  const { key, currentTarget, target } = event;
  if (!(currentTarget instanceof Element) || !(target instanceof HTMLElement)) return;
  if ((key !== 'ArrowDown' && key !== 'ArrowUp') || !target.matches(controls)) return;
  const row =
    key === 'ArrowDown' ? currentTarget.nextElementSibling : currentTarget.previousElementSibling;
  const next = row?.querySelector<HTMLElement>(controls);
  if (next == null) return;
  event.preventDefault();
  next.focus();
}
