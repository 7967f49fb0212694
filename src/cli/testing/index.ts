import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
/**
 * The module `svc/testing`, imported by tests of `svc generate:tests`. A function runs in the sandbox of deployed
 * functions, and every call of its handle is answered from the data of `svc dryrun --save`.
 */
import { parseRawJson } from '#kernel/exact-json.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import { Bundler } from '../compiler/bundle.ts';
import type { Entry } from '../compiler/entries.ts';
import { mocksPath, type Mocks } from '../mocks/mocks.ts';
import { kindFolder } from '../project-layout.ts';
import { replayRun, type ReplayEnd } from './replay-run.ts';

export { situations, type Situation } from './situations.ts';

export interface ReplayResult extends ReplayEnd {
  /** The saved mocks, for comparison. */
  readonly mocks: Mocks;
}

let sandbox: Promise<Sandbox> | null = null;

/** One for the whole process: its child ends with it. */
function sharedSandbox(): Promise<Sandbox> {
  sandbox ??= openSandbox({ childrenMax: 1 });
  return sandbox;
}

/**
 * Runs the function against its saved mocks.
 * @param testUrl `import.meta.url` of the test, which lies in `<integration>/tests`
 * @throws Error when the function or its mocks cannot be read
 */
export async function replay(
  testUrl: string,
  { kind, name }: { readonly kind: FunctionKind; readonly name: string },
): Promise<ReplayResult> {
  const integration = dirname(dirname(fileURLToPath(testUrl)));
  const root = dirname(integration);
  const entry = entryOf(root, basename(integration), kind, name);
  const text = readFileSync(join(root, mocksPath(entry.integrationKey, name)), 'utf8');
  const mocks = parseRawJson(text) as Mocks;
  const bundle = await bundleOf(root, entry);
  const shared = await sharedSandbox();
  const { models } = await shared.describe(bundle, `${entry.bundleName}.cjs`);
  const fn = { entry, bundle, models: Object.keys(models) };
  return { ...(await replayRun(shared, fn, mocks, new AbortController().signal)), mocks };
}

function entryOf(root: string, integrationKey: string, kind: FunctionKind, name: string): Entry {
  const folder = kindFolder[kind];
  const file = `${integrationKey}/${folder}/${name}.ts`;
  const bundleName = `${integrationKey}_${folder}_${name}`;
  return { integrationKey, kind, name, path: resolve(root, file), file, bundleName };
}

/** @throws Error with esbuild's message */
async function bundleOf(root: string, entry: Entry): Promise<string> {
  await using bundler = new Bundler(root);
  const { bundles, problems } = await bundler.bundle([entry]);
  const bundle = bundles.get(entry.bundleName);
  if (bundle !== undefined) return bundle;
  throw new Error(
    problems.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n'),
  );
}
