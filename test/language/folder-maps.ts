/** Whether the READMEs of `src` and `streams` are maps: each names every file of its folder, in short sentences. */
import { dirname, join, normalize } from 'node:path';

/** A text, and its line in the README, counted from 1. */
interface Passage {
  readonly line: number;
  readonly text: string;
}

/** The README by which a file is found: that of its folder or of the nearest folder above it; null without one. */
function readmeOf(file: string, readmes: ReadonlySet<string>): string | null {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) {
    const readme = join(folder, 'README.md');
    if (readme !== file && readmes.has(readme)) return readme;
  }
  return null;
}

/** The paths that a README names in backticks or as the target of a link, from the root. */
function namesIn(readme: string, text: string): ReadonlySet<string> {
  const names = [
    ...[...text.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, target = '']) => target),
  ];
  return new Set(
    names.map((name) =>
      normalize(join(dirname(readme), name))
        .replace(/\/README\.md$/, '')
        .replace(/\/$/, ''),
    ),
  );
}

/** Data and texts may be named by a pattern, such as `catalogue/*.yaml`; code is named file by file. */
const allowedPattern = /\*\.(?:yaml|json|css)$|\/texts\/\*\.ts$/;

const literal = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);

const matchesPattern = (file: string, name: string): boolean =>
  allowedPattern.test(name) &&
  new RegExp(`^${name.split('*').map(literal).join('[^/]*')}$`).test(file);

/**
 * @param files of the repository
 * @param textOf the text of a README
 * @returns each file, and each folder that has a README, that the README above it does not name
 */
export function unnamedFiles(
  files: readonly string[],
  textOf: (readme: string) => string,
): readonly string[] {
  const readmes = new Set(files.filter((file) => file.endsWith('/README.md')));
  const named = new Map(
    [...readmes].map((readme) => [readme, namesIn(readme, textOf(readme))] as const),
  );
  return files.filter((file) => {
    const isFolder = readmes.has(file);
    // The README of an outermost folder is named by none.
    if (isFolder && dirname(dirname(file)) === '.') return false;
    const readme = readmeOf(isFolder ? dirname(file) : file, readmes);
    if (readme === null) return true;
    const names = named.get(readme) ?? new Set();
    const path = isFolder ? dirname(file) : file;
    return !names.has(path) && ![...names].some((name) => matchesPattern(path, name));
  });
}

const cellsOf = (row: string): readonly string[] =>
  row
    .replace(/^\|\s*|\s*\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** The rows of tables whose first column is `File`. */
function* rowsOf(text: string): Generator<Passage & { readonly cells: readonly string[] }> {
  let isMap = false;
  for (const [at, line] of text.split('\n').entries()) {
    if (!line.startsWith('|')) {
      isMap = false;
      continue;
    }
    const cells = cellsOf(line);
    if (cells[0] === 'File') isMap = true;
    else if (isMap && !/^[-:]+$/.test(cells[0] ?? '')) yield { line: at + 1, text: line, cells };
  }
}

/** The files of a README's map that are not there. */
export function missingFiles(
  readme: string,
  text: string,
  exists: (path: string) => boolean,
): readonly string[] {
  return [...rowsOf(text)].flatMap(({ line, cells: [name = ''] }) =>
    [...namesIn(readme, name)]
      .filter((path) => !path.includes('*') && !exists(path))
      .map((path) => `${readme}:${line}: ${path} is not there`),
  );
}

const wordsIn = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Paragraphs and items of lists, each as one text. */
function* paragraphsOf(text: string): Generator<Passage> {
  const blank = text.replaceAll(/^```[^]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  let line = 1;
  let parts: string[] = [];
  for (const [at, part] of blank.split('\n').entries()) {
    const isBreak = /^\s*$|^[|#]/.test(part);
    const isItem = /^\s*(?:[-*]|\d+\.) /.test(part);
    if (isBreak || isItem) {
      if (parts.length > 0) yield { line, text: parts.join(' ') };
      parts = [];
    }
    if (isBreak) continue;
    if (parts.length === 0) line = at + 1;
    parts.push(part.trim());
  }
  if (parts.length > 0) yield { line, text: parts.join(' ') };
}

const sentenceWordsMax = 25;
const answerWordsMax = 16;

/** Sentences of a README, and lines of its map, that are too long to be read at a glance. */
export function* longSentences(text: string): Generator<Passage> {
  for (const { line, text: paragraph } of paragraphsOf(text)) {
    for (const sentence of paragraph.split(/(?<=[.!?:;])\s+/)) {
      if (wordsIn(sentence) > sentenceWordsMax) yield { line, text: sentence };
    }
  }
  for (const { line, cells } of rowsOf(text)) {
    const answer = cells[1] ?? '';
    if (wordsIn(answer) > answerWordsMax) yield { line, text: answer };
  }
}

/**
 * @param files of `src` and `streams`
 * @param textOf the text of a README
 * @param exists whether a path of the repository is there
 * @returns what is wrong with the READMEs, one line each
 */
export function folderMapProblems(
  files: readonly string[],
  textOf: (readme: string) => string,
  exists: (path: string) => boolean,
): readonly string[] {
  const unnamed = unnamedFiles(files, textOf).map((file) => `${file}: no README names it`);
  const readmes = files.filter((file) => file.endsWith('/README.md'));
  return [
    ...unnamed,
    ...readmes.flatMap((readme) => {
      const text = textOf(readme);
      const long = [...longSentences(text)].map(
        ({ line, text: sentence }) => `${readme}:${line}: too long: ${sentence}`,
      );
      return [...missingFiles(readme, text, exists), ...long];
    }),
  ];
}
