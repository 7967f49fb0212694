import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { build, type BuildFailure, type Message, type Plugin } from 'esbuild';
import type { Entry } from './entries.ts';
import { inProject, type Problem } from './problem.ts';

/** Modules that the sandbox offers, under the name by which it offers them. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['svc', 'svc'],
  ['zod', 'zod'],
  ['crypto', 'crypto'],
  ['node:crypto', 'crypto'],
  ['url', 'url'],
  ['node:url', 'url'],
]);

/** Packages that other gateways offer and this one refuses, with the reason. */
const refused: ReadonlyMap<string, string> = new Map([
  ['soap', 'It opens connections of its own, past the proxy. '],
  ['botbuilder', 'It opens connections of its own, past the proxy. '],
]);

export interface Bundled {
  /** CommonJS text of each entry, by `Entry.bundleName`. */
  readonly bundles: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

/** One CommonJS file per entry with its relative imports inlined and an inline source map. */
export async function bundleEntries(root: string, entries: readonly Entry[]): Promise<Bundled> {
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: entries.map(({ path, bundleName }) => ({ in: path, out: bundleName })),
      outdir: 'build',
      outExtension: { '.js': '.cjs' },
      bundle: true,
      write: false,
      format: 'cjs',
      platform: 'node',
      target: 'node24',
      sourcemap: 'inline',
      sourcesContent: false,
      charset: 'utf8',
      logLevel: 'silent',
      // The user's own tsconfig.json has no say (contract/cli.md section 2).
      tsconfigRaw: {},
      plugins: [guardImports(root)],
    });
    const texts = outputFiles.map(({ path, text }) => [nameOf(path), text] as const);
    return { bundles: new Map(texts), problems: [] };
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    return {
      bundles: new Map(),
      problems: error.errors.map((message) => problemOf(root, message)),
    };
  }
}

const nameOf = (path: string): string => path.replace(/^.*[\\/]/, '').replace(/\.cjs$/, '');

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error;

function problemOf(root: string, message: Message): Problem {
  const { location, text } = message;
  if (location === null) return { file: 'index.ts', line: 1, message: text };
  const file = inProject(root, resolve(root, location.file));
  return { file, line: location.line, column: location.column + 1, message: text };
}

/** Marks a resolution that the guard itself asks for, so that it does not ask again. */
const asked = { asked: true };

/** Lets through the modules of the sandbox and the project's own files, nothing else. */
function guardImports(root: string): Plugin {
  const realRoot = realpathSync(root);
  return {
    name: 'guard-imports',
    setup(builder) {
      builder.onResolve(
        { filter: /.*/ },
        async ({ path, kind, importer, resolveDir, pluginData }) => {
          if (kind === 'entry-point' || pluginData === asked) return undefined;
          const offered = allowed.get(path);
          if (offered !== undefined) return { path: offered, external: true };
          if (!/^\.\.?(\/|$)/.test(path)) return { errors: [{ text: notAllowed(path) }] };
          const found = await builder.resolve(path, {
            kind,
            importer,
            resolveDir,
            pluginData: asked,
          });
          if (found.errors.length > 0) return { errors: [{ text: `Could not resolve '${path}'` }] };
          const inside = relative(realRoot, realpathSync(found.path));
          if (inside.startsWith('..')) {
            return { errors: [{ text: `Import of '${path}' leaves the project` }] };
          }
          if (/(^|[\\/])node_modules[\\/]/.test(inside))
            return { errors: [{ text: notAllowed(path) }] };
          return { path: found.path };
        },
      );
    },
  };
}

function notAllowed(name: string): string {
  const list = [...allowed.keys()].join(', ');
  const reason = refused.get(name) ?? '';
  return `Import of package '${name}' is not allowed. ${reason}Allowed packages are: ${list}`;
}
