import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';

const compress = { br: promisify(brotliCompress), gz: promisify(gzip) };

interface PageSources {
  /** Scripts and styles by the name of the entry, below the root of the repository. */
  readonly entries: Readonly<Record<string, string>>;
  /** `iife` for a script that pages of others include; default: modules, of which `import()` makes files of their own. */
  readonly format?: 'esm' | 'iife';
  /** The package whose `jsx` the sources use. */
  readonly jsx?: string;
}

const connectPage = 'src/modules/connections/connect-page/browser';

/** What browsers run. */
const pages: Readonly<Record<string, PageSources>> = {
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
  'connect-embed': { entries: { embed: `${connectPage}/embed.ts` }, format: 'iife' },
};

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

async function buildPage(
  root: string,
  folder: string,
  { entries, format = 'esm', jsx }: PageSources,
): Promise<void> {
  const { outputFiles } = await build({
    ...common,
    absWorkingDir: root,
    entryPoints: entries,
    format,
    splitting: format === 'esm',
    ...(jsx === undefined ? {} : { jsx: 'automatic', jsxImportSource: jsx }),
  });
  await mkdir(folder, { recursive: true });
  await Promise.all(
    outputFiles.map(({ path, contents }) => write(join(folder, basename(path)), contents)),
  );
  const names = outputFiles.map(({ path }) => basename(path));
  const entryFiles = Object.keys(entries).map((entry) => [
    entry,
    names.find((name) => name.startsWith(`${entry}-`)),
  ]);
  await writeFile(join(folder, 'entries.json'), JSON.stringify(Object.fromEntries(entryFiles)));
}

async function write(file: string, contents: Uint8Array): Promise<void> {
  await Promise.all([
    writeFile(file, contents),
    writeFile(`${file}.br`, await compress.br(contents)),
    writeFile(`${file}.gz`, await compress.gz(contents)),
  ]);
}
