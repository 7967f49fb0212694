import { relative, sep } from 'node:path';
import type ts from 'typescript';
import { counted } from '#kernel/counted.ts';

/** An error in the user's project that prevents compilation, or a warning. */
export interface Problem {
  /** Relative to the project, with forward slashes. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1; absent if the problem concerns the whole line. */
  readonly column?: number;
  /** Length of the marked text; absent when unknown. */
  readonly length?: number;
  readonly message: string;
}

export const inProject = (root: string, path: string): string =>
  relative(root, path).split(sep).join('/');

export function problemAt(root: string, node: ts.Node, message: string): Problem {
  const source = node.getSourceFile();
  const { line, character } = source.getLineAndCharacterOfPosition(node.getStart(source));
  return {
    file: inProject(root, source.fileName),
    line: line + 1,
    column: character + 1,
    length: node.getEnd() - node.getStart(source),
    message,
  };
}

/** A problem as printed (docs/reference/cli.md#compilation). */
export function formatProblem(problem: Problem, label: 'err' | 'warn' = 'err'): string {
  const column = problem.column === undefined ? '' : `:${problem.column}`;
  const text = problem.message.split('\n').join('\n  ');
  return `${label} - ${problem.file}:${problem.line}${column}\n  ${text}`;
}

/** Each problem once, sorted by file, line and column. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort(
    (a, b) =>
      (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) ||
      a.line - b.line ||
      (a.column ?? 0) - (b.column ?? 0),
  );
}

/** The project does not compile; nothing was written. */
export class CompileError extends Error {
  override readonly name = 'CompileError';
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`Found ${counted(problems.length, 'error')}`);
    this.problems = inOrder(problems);
  }
}
