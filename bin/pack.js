// Scripts around `npm pack`. Node strips no types below node_modules, so that the manifest of the package names the
// programs that bin/build.ts has built; afterwards the manifest of the repository is restored.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const manifest = join(root, 'package.json');
/** Backup of the repository's manifest. */
const kept = join(root, 'node_modules', '.package-manifest.json');

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
if (process.argv[2] === 'before') nameBuilt();
