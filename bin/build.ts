/**
 * Builds the programs to `dist`, where each lies at the path of its source: bundled, because loading a thousand
 * modules is a third of a start. `node bin/build.ts` builds when a source has changed since the last time.
 */
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import ts from 'typescript';
import { bundleGuestRuntime } from '#adapters/sandbox/bundle-guest.ts';
import { builtInFile, builtInText } from '#modules/connections/providers/load-catalogue.ts';
import { demoFunctions } from './demo-functions.ts';
import { buildDocsSite } from './docs-site/build.ts';
import { buildPages } from './page-bundles.ts';
import { templateDefinitions } from './template-definitions.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const built = join(root, 'dist');
const sources = ['src', 'streams', 'schemas'];

/** Processes and threads: whatever is started by its file. They run on the Node of this package. */
const programs = [
  'src/main.ts',
  'src/log.ts',
  'src/keys.ts',
  'src/upgrade.ts',
  'src/rights.ts',
  'src/providers.ts',
  'src/cli/main.ts',
  'src/cli/compiler/source-worker.ts',
  'src/app/threads/owners-thread.ts',
  'src/app/threads/projection-thread.ts',
  'src/app/threads/sealing-thread.ts',
  'src/adapters/event-log/embedded/log-thread.ts',
  'src/adapters/event-log/embedded/checkpoint-thread.ts',
  'src/adapters/sandbox/child.ts',
  'src/modules/records/owner/state/snapshot-process.ts',
];
/** What a project of functions imports, on Node 20 or later. */
const libraries = ['src/sdk/index.ts', 'src/cli/testing/index.ts'];
const common = {
  absWorkingDir: root,
  outbase: '.',
  bundle: true,
  splitting: true,
  format: 'esm',
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
} as const satisfies BuildOptions;

const required = {
  format: 'cjs',
  splitting: false,
  outExtension: { '.js': '.cjs' },
} as const satisfies BuildOptions;

/**
 * A bundled module stands in another file than its source, and still finds what lies beside the source: the build
 * has the data, and programs at the same paths.
 */
const locations: Plugin = {
  name: 'locations',
  setup(building) {
    building.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!/import\.meta\.(url|main)/.test(text)) return null;
      const place = relative(root, path).replace(/\.ts$/, '.js');
      const url = `import.meta.resolve('#built/${place}')`;
      // None of the programs above is a module that can be run on its own.
      const contents = withProperties(text, { url, main: 'false' });
      return { contents, loader: 'ts' };
    });
  },
};

/** The source with other expressions for properties of `import.meta`; what a text in it says stays. */
function withProperties(source: string, values: Readonly<Record<string, string>>): string {
  const file = ts.createSourceFile('module.ts', source, ts.ScriptTarget.ESNext);
  const pieces: string[] = [];
  let end = 0;
  const visit = (node: ts.Node): void => {
    const value =
      ts.isPropertyAccessExpression(node) && ts.isMetaProperty(node.expression)
        ? values[node.name.text]
        : undefined;
    if (value === undefined) {
      node.forEachChild(visit);
      return;
    }
    pieces.push(source.slice(end, node.getStart(file)), value);
    end = node.end;
  };
  visit(file);
  return [...pieces, source.slice(end)].join('');
}

async function buildTo(outdir: string): Promise<void> {
  const node: BuildOptions = {
    ...common,
    outdir,
    platform: 'node',
    packages: 'external',
    plugins: [locations],
  };
  const [guest, functions, definitions] = await Promise.all([
    bundleGuestRuntime(),
    demoFunctions(root),
    templateDefinitions(root),
    build({ ...node, entryPoints: programs, target: 'node24' }),
    build({ ...node, entryPoints: libraries, target: 'node20' }),
    build({ ...node, ...required, entryPoints: ['src/sdk/index.ts'], target: 'node20' }),
    ...buildClient(outdir),
    buildPages(root, outdir),
    buildDocsSite(root, join(outdir, 'pages/docs')),
  ]);
  for (const folder of sources) copyData(folder, outdir);
  cpSync(join(root, 'templates'), join(outdir, 'templates'), { recursive: true });
  writeData(outdir, `src/modules/connections/providers/${builtInFile}`, builtInText());
  // Its pages name their own files.
  writeData(outdir, 'pages/docs/entries.json', '{}');
  writeData(outdir, 'src/adapters/sandbox/guest/runtime.js', guest);
  writeData(outdir, 'src/modules/extensions/demo/functions.json', functions);
  writeData(outdir, 'src/rules/template-definitions.json', definitions);
}

/** The client, for any runtime with `fetch`: a package of its own, to import and to require. */
const buildClient = (outdir: string): Promise<unknown>[] =>
  [{}, required].map((format) =>
    build({
      ...common,
      splitting: false,
      ...format,
      outbase: 'src/client',
      outdir: join(outdir, 'client'),
      platform: 'neutral',
      target: 'es2022',
      entryPoints: ['src/client/index.ts'],
    }),
  );

function writeData(outdir: string, path: string, text: string): void {
  const file = join(outdir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/**
 * Data and the style of the reference beside the code that reads them. Of the catalog of providers the build has one
 * file; its facts are for its maintainers, and no program reads them.
 */
function copyData(folder: string, outdir: string): void {
  const isData = (source: string): boolean =>
    !/\.(ts|tsx|md)$|tsconfig\.json$|\/catalogue(?:-facts)?$/.test(source);
  cpSync(join(root, folder), join(outdir, folder), { recursive: true, filter: isData });
}

/** Of everything that a build depends on, without reading it. */
function stateOfSources(): string {
  const files = globSync(
    [
      ...sources.map((folder) => `${folder}/**/*.*`),
      'examples/demo-provider/**/*.ts',
      'templates/**/*.{ts,json}',
      '{docs,deploy,examples/consumers}/**/*.{md,svg,json}',
      '{CHANGELOG,SECURITY}.md',
      'bin/**/*.ts',
      'package-lock.json',
    ],
    {
      cwd: root,
    },
  );
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const found = statSync(join(root, file));
    // A copy has the times of its files in whole milliseconds, and folders of its own.
    if (found.isFile()) hash.update(`${file} ${found.size} ${Math.round(found.mtimeMs)}\n`);
  }
  return hash.digest('hex');
}

/** Builds, unless the sources are those of the last build. The old build is complete until the new one is. */
export async function buildPrograms(): Promise<void> {
  const state = stateOfSources();
  const stateFile = join(built, 'sources.sha256');
  if (existsSync(stateFile) && readFileSync(stateFile, 'utf8') === state) return;
  const fresh = join(root, `node_modules/.cache/build-${process.pid}`);
  await buildTo(fresh);
  writeFileSync(join(fresh, 'sources.sha256'), state);
  rmSync(built, { recursive: true, force: true });
  renameSync(fresh, built);
}

if (import.meta.main) await buildPrograms();
