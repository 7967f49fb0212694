// Scripts around `npm pack`. Node strips no types below node_modules, so that before packing the sources are built
// to JavaScript in dist and the manifest names that; afterwards the manifest of the repository is restored.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = join(root, 'package.json');
/** Backup of the repository's manifest. */
const kept = join(root, 'node_modules', '.package-manifest.json');
const built = join(root, 'dist');

function compile(project) {
  const compiler = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc');
  const args = [compiler, '-p', join(root, project)];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** Data, styles and similar files beside the code that reads them. */
function copyData(folder) {
  const isData = (source) => !source.endsWith('.ts') && !source.endsWith('.md');
  cpSync(join(root, folder), join(built, folder), { recursive: true, filter: isData });
}

function build() {
  rmSync(built, { recursive: true, force: true });
  compile('tsconfig.build.json');
  compile('src/modules/connections/connect-page/browser/tsconfig.build.json');
  for (const folder of ['src', 'streams', 'schemas']) copyData(folder);
}

/** Types are those of the sources, which the package contains as well. */
function nameBuilt() {
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(kept, text);
  writeFileSync(
    manifest,
    text.replace(/"default": "\.\/(src\/.*)\.ts"/g, '"default": "./dist/$1.js"'),
  );
}

function restore() {
  if (existsSync(kept)) renameSync(kept, manifest);
}

// An interrupted run may have left the other manifest.
restore();
if (process.argv[2] === 'before') {
  build();
  nameBuilt();
}
