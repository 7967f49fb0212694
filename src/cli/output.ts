import { randomUUID } from 'node:crypto';
import { printableLines } from '#kernel/printable.ts';

/**
 * The output of a command; characters of text from outside that would control the terminal are escaped. Results go
 * to `out`, diagnostics and progress to `err`.
 */
export interface Output {
  result(line: string): void;
  note(line: string): void;
  /** A status line that the next line replaces; nothing without a terminal. */
  status(line: string): void;
  /** Width of the terminal, in characters. */
  readonly columns: number;
  /** Whether diagnostics go to a terminal. */
  readonly isWatched: boolean;
  /** The text in that color on a terminal, the plain text elsewhere. */
  readonly paint: (color: Color, text: string) => string;
}

type Color = 'red' | 'green' | 'yellow' | 'gray' | 'bold';

const codes: Readonly<Record<Color, readonly [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  gray: [90, 39],
  bold: [1, 22],
};

interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Without a terminal. */
const defaultColumns = 100;

export function outputTo(out: Stream, err: Stream): Output {
  const isColored = out.isTTY === true && err.isTTY === true;
  const isWatched = err.isTTY === true;
  let hasStatus = false;
  // Text from outside cannot contain it: only the codes of `paint` reach the terminal.
  const mark = `\u001b${randomUUID()}`;
  const shown = (text: string): string => text.split(mark).map(printableLines).join('\u001b[');
  const clear = (): void => {
    if (hasStatus) err.write('\r\u001b[K');
    hasStatus = false;
  };
  return {
    isWatched,
    columns: out.columns ?? defaultColumns,
    result: (line) => {
      clear();
      out.write(`${shown(line)}\n`);
    },
    note: (line) => {
      clear();
      err.write(`${shown(line)}\n`);
    },
    status: (line) => {
      if (!isWatched) return;
      clear();
      err.write(shown(line));
      hasStatus = true;
    },
    paint: (color, text) => {
      const [on, off] = codes[color];
      return isColored ? `${mark}${on}m${text}${mark}${off}m` : text;
    },
  };
}
