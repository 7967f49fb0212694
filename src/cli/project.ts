import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommandFailure } from './exit.ts';

const yamlNames = ['svc.yaml', 'svc.yml'];

/**
 * Checks that the folder is a project.
 * @throws CommandFailure when it is not, or still has the YAML configuration of older versions
 */
export function requireProject(root: string): void {
  const yaml = yamlNames.find((name) => existsSync(join(root, name)));
  if (yaml !== undefined) {
    throw new CommandFailure(
      `${yaml} is no longer supported: define functions in TypeScript and name them in index.ts, as in the project that "svc init" makes.`,
    );
  }
  if (statSync(join(root, '.svc'), { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandFailure('Not inside a svc folder');
  }
}
