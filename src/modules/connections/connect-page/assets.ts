import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build, type BuildOptions, type OutputFile } from 'esbuild';

const asBrotli = promisify(brotliCompress);
const asGzip = promisify(gzip);

/** A static file in all its content encodings. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

export interface PageAssets {
  /** By name, which contains a hash of the content, so that browsers can cache the file forever. */
  readonly files: ReadonlyMap<string, Asset>;
  /** Names of the entry files of the two documents. */
  readonly pageScript: string;
  readonly callbackScript: string;
  readonly style: string;
  /** The embed script, whose name never changes. */
  readonly embed: Asset;
}

/** Sources are TypeScript in the repository, JavaScript in the package. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const source = (name: string): string =>
  fileURLToPath(new URL(`./browser/${name}`, import.meta.url));

const options = {
  bundle: true,
  write: false,
  platform: 'browser',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
  outdir: 'assets',
} satisfies BuildOptions;

let loaded: Promise<PageAssets> | null = null;

/**
 * Bundled on the first request of the process, by esbuild's own process and off this thread: the start does not wait
 * for it, and the same sources get the same names on every node.
 */
export function pageAssets(): Promise<PageAssets> {
  loaded ??= load().catch((error: unknown) => {
    loaded = null;
    throw error;
  });
  return loaded;
}

async function load(): Promise<PageAssets> {
  const [page, embed] = await Promise.all([
    build({
      ...options,
      entryPoints: {
        page: source(`main.${ending}`),
        callback: source(`callback.${ending}`),
        style: source('page.css'),
      },
      entryNames: '[name]-[hash]',
      format: 'esm',
    }),
    build({ ...options, entryPoints: { embed: source(`embed.${ending}`) }, format: 'iife' }),
  ]);
  const named = page.outputFiles.map((file) => [basename(file.path), file] as const);
  const nameOf = (start: string): string => {
    const found = named.find(([name]) => name.startsWith(`${start}-`));
    if (found === undefined) throw new Error(`The connect page has no file ${start}.`);
    return found[0];
  };
  const [script] = embed.outputFiles;
  if (script === undefined) throw new Error('The embed script has no output.');
  const files = await Promise.all(
    named.map(async ([name, file]) => [name, await assetOf(file)] as const),
  );
  return {
    files: new Map(files),
    pageScript: nameOf('page'),
    callbackScript: nameOf('callback'),
    style: nameOf('style'),
    embed: await assetOf(script),
  };
}

async function assetOf(file: OutputFile): Promise<Asset> {
  const plain = Buffer.from(file.contents);
  const [br, gzipped] = await Promise.all([asBrotli(plain), asGzip(plain)]);
  return {
    type: file.path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    br,
    gzip: gzipped,
  };
}
