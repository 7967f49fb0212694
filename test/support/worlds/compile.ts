import { ProjectCompiler, type CompileResult } from '#cli/compiler/compile.ts';
import { CompileError, type Problem } from '#cli/compiler/problem.ts';
import { ownPackage } from '#cli/package.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { functionsProject, type FunctionsProject } from './functions-project.ts';

export async function compile(project: FunctionsProject, sandbox: Sandbox): Promise<CompileResult> {
  await using compiler = new ProjectCompiler({
    root: project.root,
    own: ownPackage(),
    sandbox,
    progress: () => undefined,
  });
  return await compiler.compile();
}

/** What is wrong with a project of these files. @throws Error when nothing is */
export async function problemsOf(
  files: Readonly<Record<string, string>>,
  sandbox: Sandbox,
): Promise<readonly Problem[]> {
  using project = functionsProject(files);
  try {
    await compile(project, sandbox);
  } catch (error) {
    if (error instanceof CompileError) return error.problems;
    throw error;
  }
  throw new Error('the project compiles');
}

/** A file that must be refused, at which line and how. */
export type Rejection = readonly [
  what: string,
  file: string,
  source: string,
  line: number,
  message: RegExp,
];
