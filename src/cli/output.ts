/** Where a command writes: results to `out`, diagnostics and progress to `err`. */
export interface Output {
  result(line: string): void;
  note(line: string): void;
  /** The text in that colour on a terminal, the plain text elsewhere. */
  readonly paint: (colour: Colour, text: string) => string;
}

type Colour = 'red' | 'green' | 'yellow' | 'grey' | 'bold';

const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  grey: [90, 39],
  bold: [1, 22],
};

interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

export function outputTo(out: Stream, err: Stream): Output {
  const isColoured = out.isTTY === true && err.isTTY === true;
  return {
    result: (line) => void out.write(`${line}\n`),
    note: (line) => void err.write(`${line}\n`),
    paint: (colour, text) => {
      const [on, off] = codes[colour];
      return isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    },
  };
}
