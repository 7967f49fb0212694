/** The output of a command: results to `out`, diagnostics and progress to `err`. */
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
  const clear = (): void => {
    if (hasStatus) err.write('\r\u001b[K');
    hasStatus = false;
  };
  return {
    isWatched,
    columns: out.columns ?? defaultColumns,
    result: (line) => {
      clear();
      out.write(`${line}\n`);
    },
    note: (line) => {
      clear();
      err.write(`${line}\n`);
    },
    status: (line) => {
      if (!isWatched) return;
      clear();
      err.write(line);
      hasStatus = true;
    },
    paint: (color, text) => {
      const [on, off] = codes[color];
      return isColored ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    },
  };
}

/** Text from outside on one line, without characters that would control the terminal. */
export const printable = (text: string): string =>
  text.replaceAll(
    /\p{Cc}/gu,
    (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
