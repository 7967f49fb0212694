import { chmodSync, copyFileSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathOf } from '#test/services/commands.ts';

const checkout = fileURLToPath(new URL('../../..', import.meta.url));
const script = fileURLToPath(new URL('npm-without-registry.sh', import.meta.url));

/**
 * Puts an `npm` into the folder that reaches no registry (`npm-without-registry.sh`).
 * @param installed what is installed from a packed file; default: the checkout
 * @returns variables with which a program finds it first
 */
export function npmWithoutRegistry(
  folder: string,
  installed: string = checkout,
): Readonly<Record<string, string>> {
  mkdirSync(folder, { recursive: true });
  const npm = join(folder, 'npm');
  copyFileSync(script, npm);
  chmodSync(npm, 0o755);
  return {
    PATH: [folder, process.env['PATH']].join(delimiter),
    SVC_TEST_NPM: pathOf('npm') ?? 'npm',
    SVC_TEST_CHECKOUT: checkout.replace(/\/$/, ''),
    SVC_TEST_PACKAGE: installed.replace(/\/$/, ''),
    npm_config_offline: 'true',
    npm_config_registry: 'http://127.0.0.1:9',
  };
}
