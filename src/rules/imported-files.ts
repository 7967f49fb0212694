import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const relativeImport = /\b(?:from|import)\s*['"](\.[^'"]+)['"]/g;

/**
 * The texts of a TypeScript file and of what it imports by relative paths, through all files, the file first.
 * @param root folder of the project; `file` and the names of the result are paths in it
 * @throws the error of the file system for one that cannot be read
 */
export function importedFiles(root: string, file: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (path: string): void => {
    if (found.has(path)) return;
    const text = readFileSync(join(root, path), 'utf8');
    found.set(path, text);
    for (const [, specifier = ''] of text.matchAll(relativeImport)) {
      add(posix.join(dirname(path), specifier.replace(/(?:\.[jt]s)?$/, '.ts')));
    }
  };
  add(file);
  return found;
}
