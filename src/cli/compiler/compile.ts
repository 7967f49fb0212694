import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { GatewayError } from '../../kernel/errors.ts';
import type { Sandbox } from '../../ports/sandbox.ts';
import type { OwnPackage } from '../package.ts';
import { artifactOf, type Artifact } from './artifacts.ts';
import { bundleEntries } from './bundle.ts';
import { orderProblems } from './call-order.ts';
import {
  definitionCall,
  functionOption,
  namedExports,
  type DefinitionCall,
} from './definition-call.ts';
import { definitionProblems, deprecations, type Loaded } from './definition-rules.ts';
import { readEntries, type Entry } from './entries.ts';
import { callProblems, handleCalls, handleNames, usesCheckpoints } from './handle-calls.ts';
import { CompileError, inOrder, problemAt, type Problem } from './problem.ts';
import { cannotFindModule, typecheck, type Checked } from './typecheck.ts';

export interface CompiledFunction {
  readonly entry: Entry;
  readonly artifact: Artifact;
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
}

export interface Compiled {
  /** In the order of `index.ts`. */
  readonly functions: readonly CompiledFunction[];
  readonly warnings: readonly Problem[];
}

interface Parts {
  readonly root: string;
  readonly own: OwnPackage;
  /** Told what is being done, for whoever waits. */
  readonly progress: (line: string) => void;
}

/**
 * Everything that a project's `index.ts` names, checked, bundled and described. Writes nothing.
 * @throws CompileError with all problems of the first stage that has any
 */
export async function compileProject(
  parts: Parts & { readonly sandbox: Pick<Sandbox, 'describe'> },
): Promise<Compiled> {
  const { root, sandbox, progress } = parts;
  const entries = readEntries(root);
  const { bundles, reviewed, warnings } = await buildEntries(parts, entries);

  progress('Generating artifacts');
  const loaded: Loaded[] = [];
  const problems: Problem[] = [];
  for (const entry of entries) {
    const call = callOf(reviewed, entry);
    try {
      const bundle = bundles.get(entry.bundleName) ?? '';
      const definition = await sandbox.describe(bundle, `${entry.bundleName}.cjs`);
      loaded.push({ entry, call, definition });
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'compilation_error') throw error;
      problems.push(problemAt(root, call.options, error.message));
    }
  }
  problems.push(...definitionProblems(root, loaded));
  if (problems.length > 0) throw new CompileError(problems);

  const functions = loaded.map(({ entry, definition }) => ({
    entry,
    artifact: artifactOf(entry, definition, reviewed.get(entry.path)?.features ?? []),
    bundle: bundles.get(entry.bundleName) ?? '',
    source: readFileSync(entry.path, 'utf8'),
  }));
  return { functions, warnings: inOrder([...warnings, ...deprecations(root, loaded)]) };
}

/** What the text of an entry says. */
interface Reviewed {
  readonly call: DefinitionCall;
  readonly features: readonly string[];
}

interface Built {
  readonly bundles: ReadonlyMap<string, string>;
  readonly reviewed: ReadonlyMap<string, Reviewed>;
  readonly warnings: readonly Problem[];
}

/**
 * Type-checks, reviews and bundles the entries.
 * @throws CompileError
 */
export async function buildEntries(parts: Parts, entries: readonly Entry[]): Promise<Built> {
  const { root, own, progress } = parts;
  progress('Typechecking');
  const paths = entries.map(({ path }) => path);
  const checked = typecheck(root, paths, own);
  const reviewed = new Map<string, Reviewed>();
  const problems: Problem[] = [];
  const names = new Map<string, ReadonlySet<string>>();
  for (const entry of entries) {
    const file = checked.program.getSourceFile(entry.path);
    if (file === undefined) throw new Error(`the compiler lost ${entry.file}`);
    const review = reviewEntry(root, entry, file, checked);
    problems.push(...review.problems);
    names.set(file.fileName, review.names);
    if (review.reviewed !== null) reviewed.set(entry.path, review.reviewed);
  }
  for (const file of checked.files) {
    const calls = handleCalls(file, names.get(file.fileName) ?? new Set(), checked.checker);
    problems.push(...callProblems(root, calls));
  }

  progress(`Building ${entries.length} file${entries.length === 1 ? '' : 's'}`);
  const { bundles, problems: unbundled } = await bundleEntries(root, entries);
  problems.push(...unbundled, ...saidOnce(checked.problems, unbundled));
  if (problems.length > 0) throw new CompileError(problems);
  return { bundles, reviewed, warnings: checked.files.flatMap((file) => consoleUses(root, file)) };
}

/** TypeScript's problems without the missing modules that the bundler has reported on the same line. */
function saidOnce(problems: readonly Problem[], bundler: readonly Problem[]): Problem[] {
  const told = new Set(bundler.map(({ file, line }) => `${file}:${line}`));
  return problems.filter(
    ({ file, line, message }) =>
      !message.startsWith(cannotFindModule) || !told.has(`${file}:${line}`),
  );
}

function callOf(reviewed: Built['reviewed'], entry: Entry): DefinitionCall {
  const call = reviewed.get(entry.path)?.call;
  if (call === undefined) throw new Error(`no definition in ${entry.file}`);
  return call;
}

interface Review {
  readonly reviewed: Reviewed | null;
  readonly problems: readonly Problem[];
  /** Names of the handle in this file. */
  readonly names: ReadonlySet<string>;
}

function reviewEntry(root: string, entry: Entry, file: ts.SourceFile, checked: Checked): Review {
  const problems = namedExports(root, file, checked.checker);
  const call = definitionCall(root, file);
  if ('message' in call) return { reviewed: null, problems: [...problems, call], names: new Set() };
  if (call.kind !== entry.kind) {
    const message = `This is a definition of kind ${call.kind}, but its folder is for ${entry.kind}`;
    problems.push(problemAt(root, call.options, message));
  }
  const exec = functionOption(file, call.options, 'exec');
  const names = handleNames([exec, functionOption(file, call.options, 'onWebhook')]);
  if (exec !== null && call.kind === 'sync') {
    problems.push(...orderProblems(root, handleCalls(exec, handleNames([exec]))));
  }
  const features = usesCheckpoints(handleCalls(file, names)) ? ['checkpoints'] : [];
  return { reviewed: { call, features }, problems, names };
}

/** `console` does nothing in a run: what is written to it is seen by nobody. */
function consoleUses(root: string, file: ts.SourceFile): Problem[] {
  const found: Problem[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.expression.getText(file) === 'console') {
      const message = `console.${node.name.text}() goes nowhere in a run, use log() of the handle`;
      found.push(problemAt(root, node, message));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
