import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Runs the service's own program for its log in a process of its own, in the folder that the user is in. Resolves
 * with its exit code.
 */
export async function transferLog(root: string, word: string, folder: string): Promise<number> {
  const entry = fileURLToPath(new URL(`../log${extname(import.meta.url)}`, import.meta.url));
  const child = spawn(process.execPath, [entry, word, folder], { cwd: root, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}
