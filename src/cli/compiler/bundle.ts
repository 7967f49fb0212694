import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { context, type BuildContext, type BuildFailure, type Message, type Plugin } from 'esbuild';
import type { AnyEntry } from './entries.ts';
import { inProject, type Problem } from './problem.ts';

/** Modules of the sandbox, by import name. */
const allowed: ReadonlyMap<string, string> = new Map([
  ['svc', 'svc'],
  ['zod', 'zod'],
  ['crypto', 'crypto'],
  ['node:crypto', 'crypto'],
  ['url', 'url'],
  ['node:url', 'url'],
  ['unzipper', 'unzipper'],
]);

/** Packages that other gateways offer and this one refuses, with the reason. */
const refused: ReadonlyMap<string, string> = new Map([
  ['soap', 'It opens connections itself, past the proxy. '],
  ['botbuilder', 'It opens connections itself, past the proxy. '],
]);

/** The result of one entry. */
type Outcome =
  | { readonly bundle: string; readonly inputs: readonly Input[] }
  | { readonly problems: readonly Problem[] };

/** A project file in a bundle. */
interface Input {
  readonly path: string;
  readonly text: string;
}

export interface BundleResult {
  /** CommonJS text of each entry, by `EntryFile.bundleName`. */
  readonly bundles: ReadonlyMap<string, string>;
  readonly problems: readonly Problem[];
}

/** Bundles the entries of a project incrementally: an entry is rebuilt only when one of its files has changed. */
export class Bundler implements AsyncDisposable {
  readonly #root: string;
  readonly #contexts = new Map<string, Promise<BuildContext<{ metafile: true }>>>();
  readonly #outcomes = new Map<string, Outcome>();

  constructor(root: string) {
    this.#root = root;
  }

  /** One CommonJS file per entry with its relative imports inlined and an inline source map. */
  async bundle(entries: readonly AnyEntry[]): Promise<BundleResult> {
    await this.#forget(entries);
    const all = await Promise.all(
      entries.map(async (entry) => [entry.bundleName, await this.#outcomeOf(entry)] as const),
    );
    return {
      bundles: new Map(
        all.flatMap(([name, outcome]) => ('bundle' in outcome ? [[name, outcome.bundle]] : [])),
      ),
      problems: all.flatMap(([, outcome]) => ('problems' in outcome ? outcome.problems : [])),
    };
  }

  async #outcomeOf(entry: AnyEntry): Promise<Outcome> {
    const existing = this.#outcomes.get(entry.bundleName);
    if (existing !== undefined && 'inputs' in existing && existing.inputs.every(isUnchanged))
      return existing;
    const outcome = await this.#build(entry);
    this.#outcomes.set(entry.bundleName, outcome);
    return outcome;
  }

  async #build(entry: AnyEntry): Promise<Outcome> {
    const opened = this.#contexts.get(entry.bundleName) ?? openContext(this.#root, entry);
    this.#contexts.set(entry.bundleName, opened);
    try {
      const { outputFiles = [], metafile } = await (await opened).rebuild();
      const inputs = Object.keys(metafile.inputs).map((name) => {
        const path = resolve(this.#root, name);
        return { path, text: readFileSync(path, 'utf8') };
      });
      return { bundle: outputFiles.map(({ text }) => text).join(''), inputs };
    } catch (error) {
      if (!isBuildFailure(error)) throw error;
      return { problems: error.errors.map((message) => problemOf(this.#root, message)) };
    }
  }

  /** Of removed entries. */
  async #forget(entries: readonly AnyEntry[]): Promise<void> {
    const present = new Set(entries.map(({ bundleName }) => bundleName));
    for (const [name, context] of this.#contexts) {
      if (present.has(name)) continue;
      this.#contexts.delete(name);
      this.#outcomes.delete(name);
      await (await context).dispose();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forget([]);
  }
}

function isUnchanged({ path, text }: Input): boolean {
  return existsSync(path) && readFileSync(path, 'utf8') === text;
}

const openContext = (
  root: string,
  { path, bundleName }: AnyEntry,
): Promise<BuildContext<{ metafile: true }>> =>
  context({
    absWorkingDir: root,
    entryPoints: [{ in: path, out: bundleName }],
    outdir: 'build',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    sourcemap: 'inline',
    sourcesContent: true,
    charset: 'utf8',
    logLevel: 'silent',
    // The user's own tsconfig.json is ignored.
    tsconfigRaw: {},
    plugins: [guardImports(root)],
  });

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && 'errors' in error;

function problemOf(root: string, message: Message): Problem {
  const { location, text } = message;
  if (location === null) return { file: 'index.ts', line: 1, message: text };
  const file = inProject(root, resolve(root, location.file));
  return { file, line: location.line, column: location.column + 1, message: text };
}

/** Marks a resolution by the guard itself, to prevent recursion. */
const buildState = { asked: true };

/** Allows only the modules of the sandbox and the project's own files. */
function guardImports(root: string): Plugin {
  const realRoot = realpathSync(root);
  return {
    name: 'guard-imports',
    setup(builder) {
      builder.onResolve(
        { filter: /.*/ },
        async ({ path, kind, importer, resolveDir, pluginData }) => {
          if (kind === 'entry-point' || pluginData === buildState) return undefined;
          const offered = allowed.get(path);
          if (offered !== undefined) return { path: offered, external: true };
          const refusal = importRefusal(path);
          if (refusal !== null) return { errors: [{ text: refusal }] };
          const found = await builder.resolve(path, {
            kind,
            importer,
            resolveDir,
            pluginData: buildState,
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

/** Why functions cannot import the module; null for one of the sandbox, or a path. */
export const importRefusal = (name: string): string | null =>
  allowed.has(name) || /^\.\.?(\/|$)/.test(name) ? null : notAllowed(name);

function notAllowed(name: string): string {
  const list = [...allowed.keys()].join(', ');
  const reason = refused.get(name) ?? '';
  return `Import of package '${name}' is not allowed. ${reason}Allowed packages are: ${list}`;
}
