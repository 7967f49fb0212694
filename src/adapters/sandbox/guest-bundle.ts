import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';

/** Sources beside this file: TypeScript in the repository, JavaScript in the package. */
export const sourceEnding = import.meta.url.endsWith('.ts') ? '.ts' : '.js';

let bundled: Promise<string> | null = null;

/** The script of a realm: our guest runtime and zod. Bundled once per process. */
export function guestRuntime(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

const settings = {
  bundle: true,
  platform: 'neutral',
  mainFields: ['module', 'main'],
  target: 'es2024',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

async function bundle(): Promise<string> {
  const zod = await smallZod();
  return textOf({
    ...settings,
    entryPoints: [fileURLToPath(new URL(`./guest/runtime${sourceEnding}`, import.meta.url))],
    format: 'iife',
    plugins: [inPlaceOf('zod', zod)],
  });
}

/** Each realm holds this text, and what it makes, in its own memory: short names, and messages in English alone. */
function smallZod(): Promise<string> {
  return textOf({
    ...settings,
    stdin: { contents: "export { z } from 'zod';", resolveDir: import.meta.dirname },
    format: 'esm',
    minifyIdentifiers: true,
    plugins: [onlyEnglish],
  });
}

const onlyEnglish: Plugin = {
  name: 'only-english',
  setup(building) {
    building.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

const inPlaceOf = (name: string, contents: string): Plugin => ({
  name: `in-place-of-${name}`,
  setup(building) {
    const namespace = 'made';
    building.onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace }));
    building.onLoad({ filter: /./, namespace }, () => ({ contents }));
  },
});

async function textOf(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...options, write: false });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('The guest runtime has no output.');
  return file.text;
}
