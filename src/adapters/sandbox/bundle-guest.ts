import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, transform, type BuildOptions, type Plugin } from 'esbuild';

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

/** @returns the guest runtime and zod, as one script */
export async function bundleGuestRuntime(): Promise<string> {
  const zod = await smallZod();
  const small = Object.entries(packages).map(async ([name, used]) =>
    inPlaceOf(name, await smallPackage(name, used)),
  );
  return bundleText({
    ...settings,
    entryPoints: [fileURLToPath(new URL('./guest/runtime.ts', import.meta.url))],
    format: 'iife',
    plugins: [inPlaceOf('zod', zod), ...(await Promise.all(small))],
  });
}

/** Other packages whose text each isolate holds, with minified names. */
const packages = {
  'buffer/index.js': 'Buffer',
  fflate: 'unzipSync',
  '@exodus/bytes/utf8.js': 'utf8fromStringLoose, utf8toString, utf8toStringLoose',
} as const;

/** @returns only what is used of the package */
async function smallPackage(name: string, used: string): Promise<string> {
  return bundleText({
    ...settings,
    stdin: { contents: `export { ${used} } from '${name}';`, resolveDir: import.meta.dirname },
    format: 'esm',
    minify: true,
  });
}

/** Each isolate holds this text and its objects in its own memory: minified names, and English messages only. */
async function smallZod(): Promise<string> {
  const text = await bundleText({
    ...settings,
    stdin: { contents: "export { z } from 'zod';", resolveDir: import.meta.dirname },
    format: 'esm',
    plugins: [onlyEnglish, leanClasses, withoutGenerator],
  });
  const { code } = await transform(withPlainNamespaces(text), {
    format: 'esm',
    target: settings.target,
    minify: true,
  });
  return code;
}

/** How esbuild fills a namespace object: with a function for each name. */
const exportHelper =
  'var __export=(target,all)=>{for(var name in all)__defProp(target,name,{get:all[name],enumerable:!0})};';

/** For namespaces whose values are all set: zod assigns to none of its exports later. */
function withPlainNamespaces(text: string): string {
  const kept = `var __spaces=[],__export=(target,all)=>{__spaces.push([target,all]);
    for(const name in all)__defProp(target,name,{get:all[name],enumerable:true,configurable:true})};`;
  const filled = `
    for(const [target,all] of __spaces)for(const name in all)
      __defProp(target,name,{value:all[name](),enumerable:true,configurable:false});
    __spaces=null;`;
  return `${replaced(text, exportHelper, kept)}${filled}`;
}

/**
 * Renaming a function after its creation turns its properties into a hash table: 900 bytes for each of the 180
 * classes of zod, two functions each. These have their names from the start; only those of errors have two.
 */
const leanClasses: Plugin = {
  name: 'lean-classes',
  setup(building) {
    building.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]core\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const changes = [
        [
          'class Definition extends Parent {',
          'const Definition = params?.Parent && { [name]: class extends Parent {',
        ],
        ['Object.defineProperty(Definition, "name", { value: name });', '}[name];'],
        ['function _(def) {', 'const _ = { [name]: function (def) {'],
        ['Object.defineProperty(_, "init"', '}[name]; Object.defineProperty(_, "init"'],
        ['Object.defineProperty(_, "name", { value: name });', ''],
      ] as const;
      return {
        contents: changes.reduce((source, [from, target]) => replaced(source, from, target), text),
      };
    });
  },
};

/**
 * Isolates allow no code generation from text: the generator behind `z.compile` is omitted, and `z.compile` returns
 * the schema unchanged.
 */
const withoutGenerator: Plugin = {
  name: 'without-generator',
  setup(building) {
    building.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/]compile\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const refusal = `() { throw new EvalError('Code generation from strings disallowed'); }`;
      const whole = replaced(text, generator, `${generator}${refusal}`);
      return { contents: whole.slice(0, whole.indexOf(refusal) + refusal.length) };
    });
  },
};
const generator = 'export function compileFn';

/** @throws Error when the text does not occur exactly once: its source has changed */
function replaced(text: string, from: string, target: string): string {
  const parts = text.split(from);
  if (parts.length === 2) return parts.join(target);
  throw new Error(`The guest runtime cannot be reduced: ${from} occurs ${parts.length - 1} times`);
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
    const namespace = `made-${name}`;
    building.onResolve({ filter: /./ }, ({ path }) => (path === name ? { path, namespace } : null));
    building.onLoad({ filter: /./, namespace }, () => ({ contents }));
  },
});

async function bundleText(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({ ...options, write: false });
  const [file] = outputFiles;
  if (file === undefined) throw new Error('The guest runtime has no output.');
  return file.text;
}
