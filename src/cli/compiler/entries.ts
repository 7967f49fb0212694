import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { projectionNameProblem } from '#rules/projection-columns.ts';
import {
  functionNamePattern,
  integrationKeyPattern,
  kindFolder,
  kinds,
  projectionsFolder,
} from '../project-layout.ts';
import { CompileError, problemAt, type Problem } from './problem.ts';

/** A function that `index.ts` names. */
export interface Entry extends EntryFile {
  readonly integrationKey: string;
  readonly kind: FunctionKind;
}

/** A projection that it names. */
export interface ProjectionEntry extends EntryFile {
  readonly kind: 'projection';
}

export type AnyEntry = Entry | ProjectionEntry;

export interface EntryFile {
  readonly name: string;
  /** Absolute path of the entry file. */
  readonly path: string;
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** Name of the bundle in `build/`, without extension. */
  readonly bundleName: string;
}

/** The functions of a project. @throws CompileError as `readAllEntries` */
export const readEntries = (root: string): Entry[] => readAllEntries(root).filter(isFunction);

export const isFunction = (entry: AnyEntry): entry is Entry => entry.kind !== 'projection';

/**
 * The functions and projections of a project in the order of `index.ts`. Only `import './<path>';` is recognized.
 * @throws CompileError
 */
export function readAllEntries(root: string): AnyEntry[] {
  const index = join(root, 'index.ts');
  const text = readIndex(index);
  const source = ts.createSourceFile(index, text, ts.ScriptTarget.ESNext, true);
  const entries: AnyEntry[] = [];
  const problems: Problem[] = [];
  for (const statement of source.statements) {
    if (!isEntryImport(statement)) continue;
    const entry = entryOf(root, statement.moduleSpecifier.text);
    if (typeof entry === 'string') problems.push(problemAt(root, statement, entry));
    else if (entries.some(({ path }) => path === entry.path)) continue;
    else {
      const twin = entries.find(
        (other) => isSameFunction(other, entry) || isSameBundle(other, entry),
      );
      if (twin === undefined) entries.push(entry);
      else problems.push(problemAt(root, statement, duplicate(entry, twin)));
    }
  }
  if (problems.length > 0) throw new CompileError(problems);
  if (entries.length === 0) {
    throw new CompileError([
      { file: 'index.ts', line: 1, message: 'No entry points found in index.ts' },
    ]);
  }
  return entries;
}

function readIndex(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new CompileError([{ file: 'index.ts', line: 1, message: 'Could not read index.ts' }]);
  }
}

interface EntryImport extends ts.ImportDeclaration {
  readonly moduleSpecifier: ts.StringLiteral;
}

function isEntryImport(statement: ts.Statement): statement is EntryImport {
  return (
    ts.isImportDeclaration(statement) &&
    statement.importClause === undefined &&
    ts.isStringLiteral(statement.moduleSpecifier) &&
    statement.moduleSpecifier.text.startsWith('.')
  );
}

/** The entry, or why it is invalid. */
function entryOf(root: string, specifier: string): AnyEntry | string {
  const path = resolve(root, `${specifier.replace(/\.[jt]s$/, '')}.ts`);
  const parts = relative(root, path).split(sep);
  const [integrationKey = '', folder = '', ...rest] = parts;
  if (integrationKey === '..') return `'${specifier}' is outside the project`;
  if (integrationKey === projectionsFolder && rest.length === 0) {
    return projectionEntry(path, parts, specifier);
  }
  const kind = kinds.find((one) => kindFolder[one] === folder);
  if (kind === undefined || rest.length === 0) {
    return `'${specifier}' is not inside an integration folder: expected ./<integration>/<syncs|actions|on-events|on-changes>/<name> or ./projections/<name>`;
  }
  const name = (rest.at(-1) ?? '').slice(0, -'.ts'.length);
  if (!integrationKeyPattern.test(integrationKey)) {
    return `'${integrationKey}' cannot be the key of an integration`;
  }
  if (!functionNamePattern.test(name)) {
    return `'${name}' cannot be the name of a function: use letters, digits, - and _`;
  }
  if (!isFile(path)) return `Could not find '${specifier}'`;
  return { integrationKey, kind, ...fileOf(path, parts, name) };
}

function projectionEntry(
  path: string,
  parts: readonly string[],
  specifier: string,
): ProjectionEntry | string {
  const name = (parts.at(-1) ?? '').slice(0, -'.ts'.length);
  const problem = projectionNameProblem(name);
  if (problem !== null) return `'${name}' cannot be the name of a projection: ${problem}`;
  if (!isFile(path)) return `Could not find '${specifier}'`;
  return { kind: 'projection', ...fileOf(path, parts, name) };
}

const isFile = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true;

function fileOf(path: string, parts: readonly string[], name: string): EntryFile {
  const file = parts.join('/');
  return { name, path, file, bundleName: join(dirname(file), name).split(sep).join('_') };
}

const isSameFunction = (a: AnyEntry, b: AnyEntry): boolean =>
  isFunction(a) &&
  isFunction(b) &&
  a.integrationKey === b.integrationKey &&
  a.kind === b.kind &&
  a.name === b.name;

const isSameBundle = (a: AnyEntry, b: AnyEntry): boolean => a.bundleName === b.bundleName;

function duplicate(entry: AnyEntry, twin: AnyEntry): string {
  return isFunction(entry) && isSameFunction(entry, twin)
    ? `The ${entry.kind} "${entry.name}" of "${entry.integrationKey}" is defined multiple times, also in ${twin.file}`
    : `${entry.file} and ${twin.file} would be built to the same file, build/${entry.bundleName}.cjs`;
}
