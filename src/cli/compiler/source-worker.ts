import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { openSandbox } from '../../adapters/sandbox/sandbox.ts';
import type {
  SourceCompiled,
  SourceOrder,
  SourceTarget,
} from '../../modules/functions/functions/compile-source.ts';
import type { FunctionKind } from '../../modules/functions/functions/state.ts';
import { flowConfig } from '../deploy/package.ts';
import { ownPackage } from '../package.ts';
import { functionPath, importLine } from '../project-layout.ts';
import { artifactOf } from './artifacts.ts';
import { ProjectCompiler, type CompiledFunction } from './compile.ts';
import { CompileError, formatProblem } from './problem.ts';

/** Compiles one file and exits; the type checker blocks its thread for seconds. */
async function compileSource({ code, target }: SourceOrder): Promise<SourceCompiled> {
  const root = mkdtempSync(join(tmpdir(), 'svc-compile-'));
  try {
    const kind = target?.kind ?? kindOf(code);
    // The target's names are not used in paths: an integration may be called "..".
    const path = join(root, `${functionPath('integration', kind, 'function')}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
    writeFileSync(join(root, 'index.ts'), importLine('integration', kind, 'function'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    await using sandbox = await openSandbox({ childrenMax: 1, spares: 1 });
    const parts = { root, own: ownPackage(), sandbox, progress: () => undefined };
    await using compiler = new ProjectCompiler(parts);
    const [compiled] = (await compiler.compile()).functions;
    if (compiled === undefined) throw new Error('the compiler lost the only file');
    const named = target === undefined ? compiled : namedAs(compiled, target);
    return { outcome: 'compiled', bundle: named.bundle, sent: flowConfig(named) };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const problems = error.problems.map((problem) => formatProblem(problem));
    return { outcome: 'refused', message: [...problems, error.message].join('\n') };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The function that the source calls determines its kind; the folder must match. */
function kindOf(code: string): FunctionKind {
  if (/\bcreateSync\s*\(/.test(code)) return 'sync';
  return /\bcreateOnEvent\s*\(/.test(code) ? 'on-event' : 'action';
}

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
