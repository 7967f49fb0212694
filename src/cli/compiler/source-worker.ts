import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { SourceCompiled } from '../../modules/functions/compile-source.ts';
import type { FunctionKind } from '../../modules/functions/state.ts';
import { ownPackage } from '../package.ts';
import { functionPath, importLine } from '../scaffold.ts';
import { EntryBuilder } from './entry-builder.ts';
import { readEntries } from './entries.ts';
import { CompileError, formatProblem } from './problem.ts';

/** Compiles the one file that it is given and ends; the type checker blocks its thread for seconds. */
async function compileSource(code: string): Promise<SourceCompiled> {
  const root = mkdtempSync(join(tmpdir(), 'svc-compile-'));
  try {
    const kind = kindOf(code);
    const path = join(root, `${functionPath('integration', kind, 'function')}.ts`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code);
    writeFileSync(join(root, 'index.ts'), importLine('integration', kind, 'function'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    const parts = { root, own: ownPackage(), progress: () => undefined };
    await using builder = new EntryBuilder(parts);
    const { bundles } = await builder.build(readEntries(root));
    return { outcome: 'bundle', js: [...bundles.values()].join('') };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const problems = error.problems.map((problem) => formatProblem(problem));
    return { outcome: 'refused', message: [...problems, error.message].join('\n') };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The source says its kind by the function that it calls; the folder has to agree. */
function kindOf(code: string): FunctionKind {
  if (/\bcreateSync\s*\(/.test(code)) return 'sync';
  return /\bcreateOnEvent\s*\(/.test(code) ? 'on-event' : 'action';
}

const { code } = workerData as { readonly code: string };
parentPort?.postMessage(await compileSource(code));
