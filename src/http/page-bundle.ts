import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { BuildOptions, OutputFile } from 'esbuild';
import type { RouteAnswer } from './define-route.ts';
import { codingFor } from './negotiate.ts';

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) };
const codings = ['br', 'gzip'] as const;

/** A static file. */
export interface Asset {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  /** Compressed on first use, off this thread. */
  readonly coded: (coding: (typeof codings)[number]) => Promise<Buffer>;
}

/** The files of a page. */
export interface PageBundle {
  /** By name, which contains a hash of the content, so that browsers can cache the file forever. */
  readonly files: ReadonlyMap<string, Asset>;
  /** The name of the file of an entry. */
  readonly nameOf: (entry: string) => string;
}

interface Sources {
  /** Files by the name of the entry: scripts and styles. */
  readonly entries: Readonly<Record<string, string>>;
  /** `iife` for a script that pages of others include; default: modules, of which `import()` makes files of their own. */
  readonly format?: 'esm' | 'iife';
  /** The package whose `jsx` the sources use. */
  readonly jsx?: string;
}

const common = {
  bundle: true,
  write: false,
  platform: 'browser',
  target: ['es2022', 'chrome109', 'firefox115', 'safari16.4'],
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
  outdir: 'assets',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
} satisfies BuildOptions;

/**
 * A function that bundles the sources on its first call in the process, by esbuild's own process and off this thread:
 * the start does not wait for it, and the same sources get the same names on every node.
 */
export function pageBundle(sources: Sources): () => Promise<PageBundle> {
  let loaded: Promise<PageBundle> | null = null;
  return () => {
    loaded ??= load(sources).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

async function load({ entries, format = 'esm', jsx }: Sources): Promise<PageBundle> {
  // Only now: a start has no use for it.
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    ...common,
    entryPoints: entries,
    format,
    splitting: format === 'esm',
    ...(jsx === undefined ? {} : { jsx: 'automatic', jsxImportSource: jsx }),
  });
  const named = outputFiles.map((file) => [basename(file.path), assetOf(file)] as const);
  return {
    files: new Map(named),
    nameOf(entry) {
      const found = named.find(([name]) => name.startsWith(`${entry}-`));
      if (found === undefined) throw new Error(`The bundle has no file of the entry ${entry}.`);
      return found[0];
    },
  };
}

function assetOf(file: OutputFile): Asset {
  const plain = Buffer.from(file.contents);
  const compressed = new Map<string, Promise<Buffer>>();
  return {
    type: file.path.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    coded(coding) {
      const existing = compressed.get(coding) ?? compress[coding](plain);
      compressed.set(coding, existing);
      return existing;
    },
  };
}

/** `Cache-Control` of a file whose name contains the hash of its content. */
export const cachedForever = 'public, max-age=31536000, immutable';

/** The file in a content encoding that the client accepts. */
export async function assetAnswer(
  file: Asset,
  accepted: string | undefined,
  caching: string,
): Promise<RouteAnswer> {
  const coding = codingFor(accepted, codings);
  return {
    status: 200,
    body: coding === null ? file.plain : await file.coded(coding),
    headers: {
      'content-type': file.type,
      'cache-control': caching,
      vary: 'accept-encoding',
      ...(coding === null ? {} : { 'content-encoding': coding }),
    },
  };
}
