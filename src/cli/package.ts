import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);

interface Manifest {
  readonly name?: string;
  readonly version?: string;
}

/** The package of this program, and what functions are compiled against. */
export interface OwnPackage {
  readonly root: string;
  readonly version: string;
  readonly zodVersion: string;
  /** The types and values of the module `svc`. */
  readonly sdkPath: string;
  /** The types of the module `zod`. */
  readonly zodTypesPath: string;
  /** Folder with the types of Node. */
  readonly typeRoot: string;
}

/** @throws Error when the installation of this package is broken */
export function ownPackage(): OwnPackage {
  const root = findRoot(dirname(fileURLToPath(import.meta.url)));
  const zodManifest = require.resolve('zod/package.json');
  return {
    root,
    version: versionOf(join(root, 'package.json')),
    zodVersion: versionOf(zodManifest),
    sdkPath: join(root, 'src/sdk/index.ts'),
    zodTypesPath: join(dirname(zodManifest), 'index.d.ts'),
    typeRoot: dirname(dirname(require.resolve('@types/node/package.json'))),
  };
}

/** Built files are in a folder of the package without a manifest of its own. */
function findRoot(from: string): string {
  const manifest = join(from, 'package.json');
  if (existsSync(manifest)) return from;
  const above = dirname(from);
  if (above === from) throw new Error('The package of this program was not found.');
  return findRoot(above);
}

function versionOf(path: string): string {
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  if (manifest.version === undefined) throw new Error(`${path} has no version`);
  return manifest.version;
}
