import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Sources beside this file: TypeScript in the repository, JavaScript in the package. */
export const sourceEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

let bundled: Promise<string> | null = null;

/** The script of a realm: our guest runtime and zod. Bundled once per process. */
export function guestRuntime(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL(`./guest/runtime${sourceEnding}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2024',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('The guest runtime has no output.');
  return file.text;
}
