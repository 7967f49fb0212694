import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { z } from 'zod';
import type { RouteAnswer } from './define-route.ts';
import { codingFor } from './negotiate.ts';

const codings = ['br', 'gzip'] as const;

/** A static file. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/** The files of a page. */
export interface PageBundle {
  /** By path below the folder of the page; the name of a script or style contains a hash, so that it can be cached forever. */
  readonly files: ReadonlyMap<string, Asset>;
  /** The name of the file of an entry. */
  readonly nameOf: (entry: string) => string;
}

/** By the ending of the name. */
const types: Readonly<Record<string, string | undefined>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

const entryFiles = z.record(z.string(), z.string());

/**
 * A function that reads the files of a page on its first call in the process. `bin/page-bundles.ts` has written them:
 * the same sources have the same names on every node.
 */
export function pageBundle(page: string): () => Promise<PageBundle> {
  let loaded: Promise<PageBundle> | null = null;
  return () => {
    loaded ??= load(page).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

async function load(page: string): Promise<PageBundle> {
  const manifest = new URL(import.meta.resolve(`#built/pages/${page}/entries.json`));
  const entries = entryFiles.parse(JSON.parse(await readFile(manifest, 'utf8')));
  const all = await readdir(new URL('.', manifest), { recursive: true });
  // What has no compressed copy is a folder, or the list of entries.
  const names = all.filter((name) => all.includes(`${name}.br`));
  const files = await Promise.all(
    names.map(async (name) => [name, await readAsset(new URL(name, manifest))] as const),
  );
  return {
    files: new Map(files),
    nameOf(entry) {
      const found = entries[entry];
      if (found === undefined) throw new Error(`The page ${page} has no entry ${entry}.`);
      return found;
    },
  };
}

async function readAsset(file: URL): Promise<Asset> {
  const read = (ending: string): Promise<Buffer> => readFile(new URL(`${file.href}${ending}`));
  const [plain, br, zipped] = await Promise.all([read(''), read('.br'), read('.gz')]);
  return {
    type: types[file.pathname.slice(file.pathname.lastIndexOf('.'))] ?? 'application/octet-stream',
    etag: etagOf(plain),
    plain,
    br,
    gzip: zipped,
  };
}

const etagOf = (content: Buffer): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };
/** The default takes 60 times as long for 13 % fewer bytes. */
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** A page that is made while the service runs. */
export async function compressedPage(html: string): Promise<Asset> {
  const plain = Buffer.from(html);
  const [br, zipped] = await Promise.all([compress.br(plain, quickly), compress.gzip(plain)]);
  return { type: 'text/html; charset=utf-8', etag: etagOf(plain), plain, br, gzip: zipped };
}

/** `Cache-Control` of a file whose name contains the hash of its content. */
export const cachedForever = 'public, max-age=31536000, immutable';

/** The file in a content encoding that the client accepts. */
export function assetAnswer(
  file: Asset,
  accepted: string | undefined,
  caching: string,
): RouteAnswer {
  const coding = codingFor(accepted, codings);
  return {
    status: 200,
    body: file[coding ?? 'plain'],
    headers: {
      'content-type': file.type,
      'cache-control': caching,
      vary: 'accept-encoding',
      ...(coding === null ? {} : { 'content-encoding': coding }),
    },
  };
}
