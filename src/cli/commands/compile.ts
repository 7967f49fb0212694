import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  changesOf,
  type Content,
  type FunctionChange,
} from '#modules/functions/functions/changes.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { defineCommand } from '../command.ts';
import type { Artifact, IntegrationArtifacts } from '../compiler/artifacts.ts';
import { framedProblem } from '../compiler/code-frame.ts';
import type { CompileResult } from '../compiler/compile.ts';
import { CompileError } from '../compiler/problem.ts';
import { writeCompiled } from '../compiler/write.ts';
import type { Context } from '../context.ts';
import { alignDependencies } from '../dependencies.ts';
import { changeTexts } from '../deploy/changes.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import type { Output } from '../output.ts';
import { functionPath } from '../project-layout.ts';
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

/** What a compilation changes about the functions that the last one has written, by path without extension. */
interface Difference {
  readonly added: readonly string[];
  readonly changed: readonly {
    readonly path: string;
    readonly changes: readonly FunctionChange[];
  }[];
  readonly removed: readonly string[];
}

/** Compares with `.svc/svc.json` and the bundles: call it before they are written. */
function compareWithBuild(root: string, { functions }: CompileResult): Difference {
  const before = new Map(writtenFunctions(root).map((one) => [pathOf(one), one]));
  const after = functions.map(({ entry, artifact, bundle }) =>
    contentOf(entry.integrationKey, artifact, bundle),
  );
  const paths = new Set(after.map(pathOf));
  return {
    added: [...paths].filter((path) => !before.has(path)),
    changed: after.flatMap((content) => {
      const was = before.get(pathOf(content));
      const changes = was === undefined ? [] : changesOf(was, content);
      return changes.length === 0 ? [] : [{ path: pathOf(content), changes }];
    }),
    removed: [...before.keys()].filter((path) => !paths.has(path)),
  };
}

const pathOf = ({ integrationKey, kind, name }: Content): string =>
  functionPath(integrationKey, kind, name);

/** Of the last compilation; none if there was none, or its files are not as this version writes them. */
function writtenFunctions(root: string): Content[] {
  const file = join(root, '.svc', 'svc.json');
  if (!existsSync(file)) return [];
  try {
    const all = JSON.parse(readFileSync(file, 'utf8')) as IntegrationArtifacts[];
    return all.flatMap(({ providerConfigKey: key, syncs, actions, onEventScripts, ...rest }) => [
      ...[...syncs, ...actions, ...(rest.onChangeScripts ?? [])].map((artifact) =>
        contentOf(key, artifact, bundleAt(root, key, artifact)),
      ),
      ...Object.entries(onEventScripts).flatMap(([event, scripts]) =>
        scripts.map((script) => {
          const artifact = { type: 'on-event', event, ...script } as const;
          return contentOf(key, artifact, bundleAt(root, key, artifact));
        }),
      ),
    ]);
  } catch {
    return [];
  }
}

function bundleAt(root: string, integrationKey: string, { type, name }: Artifact): string {
  const path = functionPath(integrationKey, type, name).replaceAll('/', '_');
  const file = join(root, 'build', `${path}.cjs`);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** The source is not kept: the bundle stands for it. */
function contentOf(integrationKey: string, artifact: Artifact, bundle: string): Content {
  const { type: kind, name, description, version } = artifact;
  const base = {
    ...{ kind, name, integrationKey, bundle, source: '', description, version },
    ...{ models: [], jsonSchema: {}, inputModel: null, scopes: [], features: [] },
    ...{ frequency: null, autoStart: false, trackDeletes: false, syncType: 'full' as const },
    ...{ webhookSubscriptions: [], event: null },
  };
  if (artifact.type === 'on-event') return { ...base, event: artifact.event };
  if (artifact.type === 'on-change') {
    const { models, delivery } = artifact;
    return { ...base, models, delivery };
  }
  const { output: models, json_schema: jsonSchema, input: inputModel, scopes, features } = artifact;
  const typed = { ...base, models, jsonSchema, inputModel, scopes, features };
  if (artifact.type === 'action') return typed;
  return {
    ...typed,
    frequency: artifact.runs,
    autoStart: artifact.auto_start,
    trackDeletes: artifact.track_deletes,
    syncType: artifact.sync_type,
    webhookSubscriptions: artifact.webhookSubscriptions,
  };
}
