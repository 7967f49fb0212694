import { appendFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { CommandFailure } from './exit.ts';
import { functionPath, importLine } from './project-layout.ts';

const yamlNames = ['svc.yaml', 'svc.yml'];

/**
 * Checks that the folder is a project.
 * @throws CommandFailure when it is not, or still has the YAML configuration of older versions
 */
export function requireProject(root: string): void {
  const yaml = yamlNames.find((name) => existsSync(join(root, name)));
  if (yaml !== undefined) {
    throw new CommandFailure(
      `${yaml} is no longer supported: define functions in TypeScript and import them in index.ts, as in the project that "svc init" creates.`,
    );
  }
  if (statSync(join(root, '.svc'), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandFailure('Not inside a svc folder');
  }
}

/** Adds the function to `index.ts` unless it is there. */
export function nameInIndex(
  root: string,
  integration: string,
  kind: FunctionKind,
  name: string,
): void {
  const index = join(root, 'index.ts');
  const text = existsSync(index) ? readFileSync(index, 'utf8') : '';
  const path = `./${functionPath(integration, kind, name)}`;
  if ([`${path}.`, `${path}'`, `${path}"`].some((named) => text.includes(named))) return;
  const isOpenLine = text !== '' && !text.endsWith('\n');
  appendFileSync(index, `${isOpenLine ? '\n' : ''}${importLine(integration, kind, name)}`);
}
