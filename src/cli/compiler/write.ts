import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svcJson } from './artifacts.ts';
import type { CompileResult, CompiledFunction } from './compile.ts';

/**
 * Writes changed bundles and `.svc/svc.json`, and removes bundles of removed functions. Returns the functions whose
 * bundles are new or changed.
 */
export function writeCompiled(
  root: string,
  { functions, projections }: CompileResult,
): CompiledFunction[] {
  const folder = join(root, 'build');
  mkdirSync(folder, { recursive: true });
  const names = new Set(
    [...functions, ...projections].map(({ entry }) => `${entry.bundleName}.cjs`),
  );
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.cjs') && !names.has(name)) rmSync(join(folder, name));
  }
  const changed = functions.filter(({ entry, bundle }) =>
    writeIfOther(join(folder, `${entry.bundleName}.cjs`), bundle),
  );
  for (const { entry, bundle } of projections) {
    writeIfOther(join(folder, `${entry.bundleName}.cjs`), bundle);
  }
  const text = JSON.stringify(svcJson(functions), null, 2);
  writeIfOther(join(root, '.svc', 'svc.json'), `${text}\n`);
  return changed;
}

function writeIfOther(path: string, text: string): boolean {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  writeFileSync(path, text);
  return true;
}
