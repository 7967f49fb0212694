import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort, resourceLimits, workerData } from 'node:worker_threads';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import {
  tooMuchMemory,
  type SourceCompiled,
  type SourceOrder,
  type SourceTarget,
} from '#modules/functions/functions/compile-source.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { withSourcesRenamed } from '#rules/source-map.ts';
import { flowConfig } from '../deploy/package.ts';
import { ownPackage } from '../package.ts';
import { functionPath, importLine } from '../project-layout.ts';
import { artifactOf } from './artifacts.ts';
import { ProjectCompiler, type CompiledFunction } from './compile.ts';
import { CompileError, formatProblem } from './problem.ts';
import { CheckerEnded } from './type-checker.ts';

/** Compiles one file and exits; the type checker blocks its thread for seconds. */
async function compileSource({ code, imports = {}, target }: SourceOrder): Promise<SourceCompiled> {
  if (isProjection(code)) {
    const message =
      'A projection is no function. Put it into projections/<name>.ts of a project, and run svc compile or svc deploy.';
    return { outcome: 'refused', message };
  }
  const root = mkdtempSync(join(tmpdir(), 'svc-compile-'));
  const kind = target?.kind ?? kindOf(code);
  // The target's names are not used in paths: an integration may be called "..".
  const written = `${functionPath('integration', kind, 'function')}.ts`;
  const nameOf = (file: string): string =>
    file === written ? fileNameOf(target) : importedNameOf(file, target);
  try {
    for (const [file, text] of [...Object.entries(imports), [written, code] as const]) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    writeFileSync(join(root, 'index.ts'), importLine('integration', kind, 'function'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    await using sandbox = await openSandbox({ childrenMax: 1, spares: 1 });
    const checker = limitedChecker();
    const parts = { root, own: ownPackage(), sandbox, progress: () => undefined, ...checker };
    await using compiler = new ProjectCompiler(parts);
    const [compiled] = (await compiler.compile()).functions;
    if (compiled === undefined) throw new Error('the compiler lost the only file');
    const named = target === undefined ? compiled : namedAs(compiled, target);
    const bundle = withSourcesRenamed(named.bundle, nameOf);
    return { outcome: 'compiled', bundle, sent: flowConfig({ ...named, bundle }) };
  } catch (error) {
    if (error instanceof CheckerEnded) return { outcome: 'refused', message: tooMuchMemory };
    if (!(error instanceof CompileError)) throw error;
    const problems = error.problems.map((problem) =>
      formatProblem({ ...problem, file: nameOf(problem.file) }),
    );
    return { outcome: 'refused', message: [...problems, error.message].join('\n') };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The file as users know it: in the project that they would write. */
const fileNameOf = (target: SourceTarget | undefined): string =>
  target === undefined
    ? 'function.ts'
    : `${functionPath(target.integrationKey, target.kind, target.name)}.ts`;

const importedNameOf = (file: string, target: SourceTarget | undefined): string =>
  target === undefined ? file : file.replace(/^integration\//, () => `${target.integrationKey}/`);

/** Address space that the checker reserves before it reads a file. */
const reservedMb = 640;

/**
 * The checker is a process of its own: it may have the memory of this thread too. Not on Windows, which has no such
 * limit.
 */
function limitedChecker(): { readonly checker?: string } {
  if (process.platform === 'win32') return {};
  const megabytes = reservedMb + (resourceLimits.maxOldGenerationSizeMb ?? 0);
  const native = createRequire(import.meta.resolve('typescript-native/package.json'));
  const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`;
  const variables = {
    SVC_CHECK_KB: String(megabytes * 1024),
    SVC_CHECK_PROGRAM: join(dirname(native.resolve(name)), 'lib/tsc'),
  };
  // oxlint-disable-next-line no-restricted-properties -- the environment of the child process
  Object.assign(process.env, variables);
  return { checker: fileURLToPath(new URL('limited-check.sh', import.meta.url)) };
}

/** The function that the source calls determines its kind; the folder must match. */
function kindOf(code: string): FunctionKind {
  if (/\bcreateSync\s*\(/.test(code)) return 'sync';
  if (/\bcreateOnChange\s*\(/.test(code)) return 'on-change';
  return /\bcreateOnEvent\s*\(/.test(code) ? 'on-event' : 'action';
}

const isProjection = (code: string): boolean => /\bcreateProjection\s*\(/.test(code);

/** The function as if it were in the folder of its integration. */
function namedAs(
  compiled: CompiledFunction,
  { integrationKey, name }: SourceTarget,
): CompiledFunction {
  const { artifact, definition } = compiled;
  const entry = { ...compiled.entry, integrationKey, name };
  const features = 'features' in artifact ? artifact.features : [];
  return { ...compiled, entry, artifact: artifactOf(entry, definition, features) };
}

parentPort?.postMessage(await compileSource(workerData as SourceOrder));
