import type { Sandbox } from '#ports/sandbox.ts';
import { defineCommand } from '../command.ts';
import { framedProblem } from '../compiler/code-frame.ts';
import { compareWithBuild, type Difference } from '../compiler/compare.ts';
import type { CompileResult } from '../compiler/compile.ts';
import { CompileError } from '../compiler/problem.ts';
import { writeCompiled } from '../compiler/write.ts';
import type { Context } from '../context.ts';
import { alignDependencies } from '../dependencies.ts';
import { changeTexts } from '../deploy/changes.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import type { Output } from '../output.ts';
import { requireProject } from '../project.ts';

export const compile = defineCommand({
  name: 'compile',
  usage: '',
  summary: 'Check the functions and build the deployable bundles',
  about: `Type-checks every function that index.ts names, bundles each into build/ and describes them in
.svc/svc.json. Nothing is written if there is any error.`,
  options: {},
  help: `Examples
  svc compile
  svc compile --no-dependency-update`,

  async run({ values }, context) {
    await using sandbox = await context.openSandbox();
    const { difference } = await compileStep(context, values, sandbox);
    for (const line of differenceLines(difference, context.output.paint)) context.output.note(line);
    context.output.result('Compiled');
  },
});

/**
 * Compiles, also as a step of other commands.
 * @throws CommandFailure with the code of a failed compilation, after all problems were printed
 */
export async function compileStep(
  context: Context,
  options: {
    readonly debug?: boolean | undefined;
    readonly 'dependency-update'?: boolean | undefined;
  },
  sandbox: Sandbox,
  progress = showProgress(context.output),
): Promise<CompileResult & { readonly difference: Difference }> {
  const { root, own, output } = context;
  requireProject(root);
  prepareProject(context, options);
  await using compiler = await context.openCompiler({ root, own, sandbox, progress });
  try {
    const compiled = await compiler.compile();
    for (const warning of compiled.warnings) {
      output.note(framedProblem(root, warning, 'warn', output.paint));
    }
    const difference = compareWithBuild(root, compiled);
    writeCompiled(root, compiled);
    return { ...compiled, difference };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    for (const problem of error.problems) {
      output.note(framedProblem(root, problem, 'err', output.paint));
    }
    throw new CommandFailure(error.message, { exitCode: exitCodes.compileFailed });
  }
}

function differenceLines(
  { added, changed, removed }: Difference,
  paint: Output['paint'],
): string[] {
  if (added.length + changed.length + removed.length === 0) return ['No function has changed'];
  return [
    ...added.map((path) => paint('green', `+ ${path}`)),
    ...changed.flatMap(({ path, changes }) => [
      paint('yellow', `~ ${path}`),
      ...changeTexts(changes).map((text) => `    ${text}`),
    ]),
    ...removed.map((path) => paint('red', `- ${path}`)),
  ];
}

/** Prints what was loaded and aligns the dependencies, the first step of every command that compiles. */
export function prepareProject(
  { root, own, output, environment }: Context,
  options: {
    readonly debug?: boolean | undefined;
    readonly 'dependency-update'?: boolean | undefined;
  },
): void {
  if (options.debug === true && environment.hasEnvFile) output.note('Loaded .env');
  const mayUpdate =
    options['dependency-update'] !== false && environment.dependencyUpdate && !environment.isCi;
  alignDependencies(root, own, { mayUpdate, output });
}

/** The current step: a replaced status line on a terminal, otherwise line by line. */
export const showProgress =
  (output: Output) =>
  (line: string): void =>
    output.isWatched ? output.status(line) : output.note(line);
