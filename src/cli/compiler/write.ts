import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { svcJson } from './artifacts.ts';
import type { Compiled } from './compile.ts';

/** Writes the bundles and `.svc/svc.json`, and removes bundles of functions that are gone. */
export function writeCompiled(root: string, { functions }: Compiled): void {
  const folder = join(root, 'build');
  mkdirSync(folder, { recursive: true });
  const names = new Set(functions.map(({ entry }) => `${entry.bundleName}.cjs`));
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.cjs') && !names.has(name)) rmSync(join(folder, name));
  }
  for (const { entry, bundle } of functions) {
    writeFileSync(join(folder, `${entry.bundleName}.cjs`), bundle);
  }
  const text = JSON.stringify(svcJson(functions), null, 2);
  writeFileSync(join(root, '.svc', 'svc.json'), `${text}\n`);
}
