import { SourceMap, type SourceMapPayload } from 'node:module';
import { LRUCache } from 'lru-cache';
import { mapMark, mapStart } from './inline-source-map.ts';

/** A position in a file of the user's project, both from 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The files that a bundle was made of. */
export interface BundleSources {
  /** Null for code that the bundler added. */
  positionOf(line: number, column: number): SourcePosition | null;
  /** Lines of the file; null where the map has no text of it. */
  linesOf(file: string): readonly string[] | null;
}

/** The bundle with other names of its files. */
export function withSourcesRenamed(bundle: string, nameOf: (file: string) => string): string {
  const at = mapStart(bundle);
  if (at === -1) return bundle;
  const payload = payloadOf(bundle, at);
  const sources = payload.sources.map((source) => nameOf(fileOf(source)));
  const text = JSON.stringify({ ...payload, sources });
  return `${bundle.slice(0, at)}${mapMark}${Buffer.from(text).toString('base64')}\n`;
}

/** A function fails more than once, and its map takes milliseconds to read. */
const opened = new LRUCache<string, { readonly sources: BundleSources | null }>({ max: 8 });

/** Null for a bundle without a readable map. */
export function sourcesOf(bundle: string): BundleSources | null {
  const existing = opened.get(bundle);
  if (existing !== undefined) return existing.sources;
  const sources = openSources(bundle);
  opened.set(bundle, { sources });
  return sources;
}

const payloadOf = (bundle: string, at: number): SourceMapPayload =>
  JSON.parse(
    Buffer.from(bundle.slice(at + mapMark.length).trim(), 'base64').toString(),
  ) as SourceMapPayload;

function openSources(bundle: string): BundleSources | null {
  const at = mapStart(bundle);
  if (at === -1) return null;
  try {
    const payload = payloadOf(bundle, at);
    const map = new SourceMap(payload);
    const texts = new Map(
      payload.sources.map((source, n) => [fileOf(source), contentOf(payload, n)]),
    );
    return {
      positionOf(line, column) {
        const found = map.findEntry(line - 1, column - 1);
        if (!('originalSource' in found)) return null;
        const { originalSource, originalLine, originalColumn } = found;
        const file = fileOf(originalSource);
        return { file, line: originalLine + 1, column: originalColumn + 1 };
      },
      linesOf: (file) => texts.get(file)?.split(/\r?\n/) ?? null,
    };
  } catch {
    // A deployment may contain any text as a bundle.
    return null;
  }
}

const contentOf = ({ sourcesContent }: SourceMapPayload, n: number): string | null =>
  (sourcesContent as readonly unknown[] | undefined)?.[n] == null
    ? null
    : String(sourcesContent[n]);

/** The bundler writes paths from its folder of bundles; users know them from the root of their project. */
const fileOf = (source: string): string => source.replace(/^(\.\.\/)+/, '');
