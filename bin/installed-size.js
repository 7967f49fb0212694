// `npm run size`: the disk usage of the installed dependencies, and of the ten largest packages. Hard links count
// once.
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../node_modules', import.meta.url));
const seen = new Set();

function bytesOf(path) {
  const { dev, ino, size, ...stats } = lstatSync(path);
  const isFolder = (stats.mode & 0o170000) === 0o040000;
  const key = `${dev}:${ino}`;
  if (seen.has(key)) return 0;
  seen.add(key);
  if (!isFolder) return size;
  return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0);
}

const packages = readdirSync(folder)
  .flatMap((name) =>
    name.startsWith('@')
      ? readdirSync(join(folder, name)).map((inner) => `${name}/${inner}`)
      : [name],
  )
  .map((name) => ({ name, bytes: bytesOf(join(folder, name)) }))
  .sort((a, b) => b.bytes - a.bytes);
const total = packages.reduce((sum, { bytes }) => sum + bytes, 0);
const mb = (bytes) => `${(bytes / 1e6).toFixed(0).padStart(5)} MB`;
for (const { name, bytes } of packages.slice(0, 10)) console.log(`${mb(bytes)}  ${name}`);
console.log(`${mb(total)}  in ${packages.length} packages`);
