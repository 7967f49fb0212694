import { isatty } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { printable, printableLines } from '#kernel/printable.ts';

/** Whether a person reads the log: both outputs go to a terminal. Anything else takes the lines of JSON. */
export const isReadByPerson = (): boolean => isatty(1) && isatty(2);

const levels: Readonly<Record<number, readonly [name: string, color: number]>> = {
  10: ['TRACE', 90],
  20: ['DEBUG', 90],
  30: ['INFO', 32],
  40: ['WARN', 33],
  50: ['ERROR', 31],
  60: ['FATAL', 31],
};

/** Longest text of one field; the rest is in the lines of JSON. */
const fieldCharsMax = 300;

/**
 * A line of the log for a person: time, level, message, fields, and the stack of an error below it.
 * @param line JSON of pino; one that is no JSON stays as it is
 */
export function readableLine(line: string, options: { readonly isColored: boolean }): string {
  const entry = parsed(line);
  if (entry === null) return printableLines(line);
  const { level, time, msg, thread, err, ...fields } = entry;
  const paint = (color: number, text: string): string =>
    options.isColored ? `\u001b[${color}m${text}\u001b[39m` : text;
  const [name, color] = levels[Number(level)] ?? [String(level), 39];
  const shown = { ...(thread === undefined || thread === 'main' ? {} : { thread }), ...fields };
  const pairs = Object.entries(shown).map(
    ([key, value]) => ` ${printable(key)}=${fieldText(value)}`,
  );
  const head = `${paint(90, timeText(time))} ${paint(color, name.padEnd(5))} ${printable(textOf(msg))}`;
  return `${head}${paint(90, pairs.join(''))}${causeText(err, textOf(msg))}\n`;
}

/** Null unless it is a JSON object. */
function parsed(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const entry: unknown = JSON.parse(line);
    return isObject(entry) ? entry : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Time of day on the clock of the machine. */
function timeText(time: unknown): string {
  const at = new Date(Number(time));
  if (Number.isNaN(at.getTime())) return '--:--:--.---';
  const two = (part: number): string => String(part).padStart(2, '0');
  const seconds = `${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  return `${two(at.getHours())}:${two(at.getMinutes())}:${seconds}`;
}

/** A word as it is, everything else as JSON. */
function fieldText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  const text = printable(isWord ? value : JSON.stringify(value));
  return text.length > fieldCharsMax ? `${text.slice(0, fieldCharsMax)}…` : text;
}

/** The error of an entry on lines of its own; nothing if the message says all of it. */
function causeText(err: unknown, message: string): string {
  if (err === undefined) return '';
  if (!isObject(err)) return `\n    ${fieldText(err)}`;
  const { type, message: reason, stack } = err;
  const text = textOf(stack) || [textOf(type), textOf(reason)].filter(Boolean).join(': ');
  if (text === '' || text === message) return '';
  const lines = printableLines(stripVTControlCharacters(text)).split('\n');
  return lines.map((one) => `\n    ${one.trimStart()}`).join('');
}
