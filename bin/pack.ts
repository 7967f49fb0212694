/**
 * Scripts around `npm pack` and `npm publish`: `before` writes the declarations (`.d.ts`) of what applications import,
 * the package of the client (`dist/client`), and the manifest of the package in place of the repository's;
 * `after` restores that one. Both packages are named after `name` of package.json, and nothing else names them.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeDeclarations } from './declarations.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const manifestFile = join(root, 'package.json');
/** Backup of the repository's manifest. */
const backupFile = join(root, 'node_modules', '.package-manifest.json');
const clientFolder = join(root, 'dist/client');

/** The registry takes a scoped package as private without this. */
const publishConfig = { access: 'public' };

/** Of a module that can be imported and required, each with its own declarations. */
const dual = (path: string): object => ({
  import: { types: `${path}.d.ts`, default: `${path}.js` },
  require: { types: `${path}.d.cts`, default: `${path}.cjs` },
});

function before(): void {
  const text = readFileSync(manifestFile, 'utf8');
  const manifest = JSON.parse(text) as Manifest;
  const built = join(root, 'dist');
  writeDeclarations(root, [
    { entry: 'src/sdk/index.ts', outdir: built, base: '.', isDual: true },
    { entry: 'src/cli/testing/index.ts', outdir: built, base: '.', isDual: false },
    { entry: 'src/client/index.ts', outdir: clientFolder, base: 'src/client', isDual: true },
  ]);
  writeManifest(join(clientFolder, 'package.json'), clientManifest(manifest));
  for (const file of ['LICENSE', 'src/client/README.md'])
    copyFileSync(join(root, file), join(clientFolder, file.replace(/^.*\//, '')));
  writeFileSync(backupFile, text);
  writeManifest(manifestFile, packedManifest(manifest));
}

function restore(): void {
  if (existsSync(backupFile)) renameSync(backupFile, manifestFile);
}

const writeManifest = (file: string, manifest: object): void =>
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);

/**
 * The packages of Node that exist for each version. The package `node` chooses one by a script when it is installed,
 * which package managers block.
 */
const nodePlatforms = ['linux-x64', 'linux-arm64', 'win-x64'];

function packedManifest(manifest: Manifest): object {
  const { node = '', ...dependencies } = manifest.dependencies;
  const nodes = nodePlatforms.map((platform) => [`node-${platform}`, node] as const);
  return {
    ...manifest,
    dependencies,
    optionalDependencies: { ...manifest.optionalDependencies, ...Object.fromEntries(nodes) },
    private: false,
    publishConfig,
    exports: {
      '.': dual('./dist/src/sdk/index'),
      './testing': {
        types: './dist/src/cli/testing/index.d.ts',
        default: './dist/src/cli/testing/index.js',
      },
      './client': dual('./dist/client/index'),
      './package.json': './package.json',
    },
    scripts: {},
    devDependencies: {},
  };
}

const clientManifest = ({ name, version, license, engines }: Manifest): object => ({
  name: `${name}-client`,
  version,
  description:
    'Client of the integration gateway: its API, typed, and verification of its webhooks.',
  license,
  publishConfig,
  type: 'module',
  engines,
  sideEffects: false,
  main: './index.cjs',
  types: './index.d.cts',
  exports: { '.': dual('./index'), './package.json': './package.json' },
  files: ['*.js', '*.cjs', '*.d.ts', '*.d.cts'],
});

// An interrupted run may have left the other manifest.
restore();
if (process.argv[2] === 'before') before();
