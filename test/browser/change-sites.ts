/**
 * The places in the sources of the console that change something, by where they are in the scripts that a browser
 * runs: each call of `mutate` (a control was pressed) and each request of an operation other than GET.
 */
import { globSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mappedScripts } from '#bin/page-bundles.ts';

/** A place in a script; its name is file, line and text of the source. */
interface ChangeSite {
  readonly name: string;
  readonly offset: number;
}

/** What a browser ran of a script since it was asked before (`Profiler.takePreciseCoverage`). */
export interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const calls = /\.mutate\(|\.request\(["'`](?:POST|PUT|PATCH|DELETE) \//g;
/** These pass on what pages ask for. */
const passing = /^src\/console\/(?:data|shell)\//;

type ChangeSites = ReadonlyMap<string, readonly ChangeSite[]>;

let found: Promise<ChangeSites> | null = null;

/** By the name of the built file. @throws Error if the build is that of other sources */
export const changeSites = (): Promise<ChangeSites> => (found ??= findSites());

async function findSites(): Promise<ChangeSites> {
  const folder = join(root, 'dist/pages/console');
  const built = new Map(
    globSync('*.js', { cwd: folder }).map((file) => [
      withoutHashes(readFileSync(join(folder, file), 'utf8')),
      file,
    ]),
  );
  const scripts = await mappedScripts(root, 'console');
  return new Map(
    scripts.map(({ script, map }) => {
      const file = built.get(withoutHashes(script));
      if (file === undefined) throw new Error('dist/pages is not the build of these sources');
      return [file, sitesIn(script, new SourceMap(JSON.parse(map) as SourceMapPayload))];
    }),
  );
}

const withoutHashes = (script: string): string => script.replaceAll(/-[A-Z0-9]{8}\.js/g, '-.js');

function sitesIn(script: string, map: SourceMap): ChangeSite[] {
  return [...script.matchAll(calls)].flatMap(({ index }) => {
    const before = script.slice(0, index);
    const entry = map.findEntry(before.split('\n').length - 1, index - before.lastIndexOf('\n'));
    if (!('originalSource' in entry)) return [];
    const source = entry.originalSource.replace(/^(?:\.\.\/)+/, '');
    if (!source.startsWith('src/console/') || passing.test(source)) return [];
    const text = readFileSync(join(root, source), 'utf8').split('\n')[entry.originalLine] ?? '';
    return [{ name: `${source}:${entry.originalLine + 1} ${text.trim()}`, offset: index }];
  });
}

/** Names of the sites that were run. */
export const sitesRun = (sites: ChangeSites, coverage: readonly ScriptCoverage[]): string[] =>
  coverage.flatMap(({ url, functions }) => {
    const ranges = functions.flatMap(({ ranges: some }) => some);
    const isRun = ({ offset }: ChangeSite): boolean => {
      const around = ranges
        .filter(({ startOffset, endOffset }) => startOffset <= offset && offset < endOffset)
        .sort((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
      return (around[0]?.count ?? 0) > 0;
    };
    return (sites.get(basename(url)) ?? []).filter(isRun).map(({ name }) => name);
  });
