import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Output } from '../output.ts';
import { formatProblem, type Problem } from './problem.ts';

/** Lines shown before the reported one. */
const linesBefore = 2;
/** Longer lines are cut for readability. */
const lineCharsMax = 160;

/** A problem as printed, followed by the lines of its file. */
export function framedProblem(
  root: string,
  problem: Problem,
  label: 'err' | 'warn',
  paint: Output['paint'],
): string {
  const head = paint(label === 'err' ? 'red' : 'yellow', formatProblem(problem, label));
  const frame = frameLines(linesOf(join(root, problem.file)), problem);
  return [head, ...frame.map((line) => paint('gray', line))].join('\n');
}

function frameLines(lines: readonly string[], { line, column, length }: Problem): string[] {
  const meant = lines[line - 1];
  if (meant === undefined || column === undefined) return [];
  const first = Math.max(1, line - linesBefore);
  const width = String(line).length;
  const shown = lines.slice(first - 1, line).map((text, at) => {
    const number = String(first + at).padStart(width);
    return `  ${number} | ${text.slice(0, lineCharsMax)}`.trimEnd();
  });
  if (column > lineCharsMax) return shown;
  return [...shown, `  ${markBelow(meant, column, length ?? 1, width)}`];
}

/** Marks the characters of the line above, which has a number of that width before it. */
export function markBelow(line: string, column: number, length: number, width: number): string {
  // Tabs stay tabs, so that the mark is below its column.
  const before = line.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
  const marked = Math.max(1, Math.min(length, line.length - column + 1));
  return `${' '.repeat(width)} | ${before}${'^'.repeat(marked)}`;
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split(/\r?\n/);
  } catch {
    // A missing file, such as index.ts, has no lines to show.
    return [];
  }
}
