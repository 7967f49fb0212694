/** Building blocks of generated Markdown pages. */
import { dayMs } from '#kernel/time.ts';

/** Escapes text for a table cell. */
const cell = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

const units: readonly (readonly [number, string])[] = [
  [dayMs, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
  [1, 'ms'],
];

/** In the largest unit that gives a whole number. */
export function durationText(ms: number): string {
  const [unitMs, unit] = units.find(([size]) => ms % size === 0) ?? [1, 'ms'];
  return `${ms / unitMs} ${unit}`;
}

const sizes: readonly (readonly [number, string])[] = [
  [1024 ** 2, 'MiB'],
  [1024, 'KiB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
];

export function bytesText(bytes: number): string {
  const [size, unit] = sizes.find(([one]) => bytes % one === 0) ?? [1, 'bytes'];
  return `${bytes / size} ${unit}`;
}

const hint = 'made by `npm run generate`; do not edit';
const beginning = /^<!-- begin ([\w-]+)[: ]/;

/**
 * The page with each of its blocks, `<!-- begin name -->` to `<!-- end name -->`, replaced.
 * @throws Error when the page lacks a block, has an unknown block, or one without an end
 */
export function withBlocks(page: string, blocks: Readonly<Record<string, string>>): string {
  const left = new Set(Object.keys(blocks));
  const lines: string[] = [];
  let open: string | null = null;
  for (const line of page.split('\n')) {
    if (open !== null) {
      if (line === `<!-- end ${open} -->`) open = null;
      continue;
    }
    const name = beginning.exec(line)?.[1];
    if (name === undefined) {
      lines.push(line);
      continue;
    }
    const content = blocks[name];
    if (content === undefined) throw new Error(`nothing makes the block ${name}`);
    left.delete(name);
    open = name;
    lines.push(
      `<!-- begin ${name}: ${hint} -->`,
      `<!-- prettier-ignore-start -->\n\n${content}\n`,
      '<!-- prettier-ignore-end -->',
      `<!-- end ${name} -->`,
    );
  }
  if (open !== null) throw new Error(`the block ${open} has no end`);
  if (left.size > 0) throw new Error(`the page has no block ${[...left].join(', ')}`);
  return lines.join('\n');
}
