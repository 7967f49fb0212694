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
  /** Under which it is published; that of the client ends in `-client`. */
  readonly name: string;
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
    name: fieldOf(join(root, 'package.json'), 'name'),
    version: fieldOf(join(root, 'package.json'), 'version'),
    zodVersion: fieldOf(zodManifest, 'version'),
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

function fieldOf(path: string, field: keyof Manifest): string {
  const value = (JSON.parse(readFileSync(path, 'utf8')) as Manifest)[field];
  if (value === undefined) throw new Error(`${path} has no ${field}`);
  return value;
}
