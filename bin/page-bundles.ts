import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';

const compress = { br: promisify(brotliCompress), gz: promisify(gzip) };

interface PageSources<E extends string = string> {
  /** Scripts and styles by the name of the entry, below the root of the repository. */
  readonly entries: Readonly<Record<E, string>>;
  /** `iife` for a script that pages of others include; default: modules, of which `import()` makes files of their own. */
  readonly format?: 'esm' | 'iife';
  /** The package whose `jsx` the sources use. */
  readonly jsx?: string;
}

const connectPage = 'src/modules/connections/connect-page/browser';

/** What browsers run. */
export const pages = {
  console: {
    entries: { console: 'src/console/main.tsx', style: 'src/console/console.css' },
    jsx: 'preact',
  },
  'connect-page': {
    entries: {
      page: `${connectPage}/main.ts`,
      callback: `${connectPage}/callback.ts`,
      style: `${connectPage}/page.css`,
    },
  },
  'api-reference': {
    entries: { page: 'src/docs-site/api-reference.ts', style: 'src/docs-site/api-reference.css' },
  },
  'connect-embed': { entries: { embed: `${connectPage}/embed.ts` }, format: 'iife' },
} satisfies Readonly<Record<string, PageSources>>;

const common = {
  bundle: true,
  write: false,
  platform: 'browser',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  outdir: 'assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  // Otherwise the checks of libraries for developers stay in.
  define: { 'process.env.NODE_ENV': '"production"' },
} satisfies BuildOptions;

/**
 * Writes the files of each page to a folder of its name below `pages`, for `src/http/page-bundle.ts`: the scripts and
 * styles, named by their content, each also compressed (`.br`, `.gz`), and `entries.json`, the file of each entry.
 */
export async function buildPages(root: string, outdir: string): Promise<void> {
  await Promise.all(
    Object.entries(pages).map(([name, sources]) =>
      buildPage(root, join(outdir, 'pages', name), sources),
    ),
  );
}

async function buildPage(root: string, folder: string, sources: PageSources): Promise<void> {
  const names = await bundlePage(root, folder, sources);
  await writeFile(join(folder, 'entries.json'), JSON.stringify(names));
}

/** @returns the name of the file of each entry */
export async function bundlePage<E extends string>(
  root: string,
  folder: string,
  sources: PageSources<E>,
): Promise<Readonly<Record<E, string>>> {
  const { outputFiles } = await bundle(root, sources);
  await Promise.all(
    outputFiles.map(({ path, contents }) =>
      writeCompressed(join(folder, basename(path)), contents),
    ),
  );
  const names = outputFiles.map(({ path }) => basename(path));
  const named = Object.keys(sources.entries).map((entry) => [
    entry,
    names.find((name) => name.startsWith(`${entry}-`)),
  ]);
  return Object.fromEntries(named) as Record<E, string>;
}

const bundle = (
  root: string,
  { entries, format = 'esm', jsx }: PageSources,
  { isMapped = false }: { readonly isMapped?: boolean } = {},
) =>
  build({
    ...common,
    absWorkingDir: root,
    entryPoints: entries,
    format,
    splitting: format === 'esm',
    // Beside the files, and named in none of them: they differ in their hashes alone from those without.
    sourcemap: isMapped ? 'external' : false,
    ...(jsx === undefined ? {} : { jsx: 'automatic', jsxImportSource: jsx }),
  });

/**
 * The scripts of a page with their source maps, both as text. They are those of `buildPages`, but for the hashes in
 * the names of files.
 */
export async function mappedScripts(
  root: string,
  name: keyof typeof pages,
): Promise<readonly { readonly script: string; readonly map: string }[]> {
  const { outputFiles } = await bundle(root, pages[name], { isMapped: true });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  return [...texts].flatMap(([path, script]) => {
    const map = texts.get(`${path}.map`);
    return path.endsWith('.js') && map !== undefined ? [{ script, map }] : [];
  });
}

/** A file, and beside it what is sent to a client that accepts a compression. */
export async function writeCompressed(file: string, contents: Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await Promise.all([
    writeFile(file, contents),
    writeFile(`${file}.br`, await compress.br(contents)),
    writeFile(`${file}.gz`, await compress.gz(contents)),
  ]);
}
