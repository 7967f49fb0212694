import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { counted } from '#kernel/counted.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { FunctionDefinition, Sandbox } from '#ports/sandbox.ts';
import type { OwnPackage } from '../package.ts';
import { artifactOf, type Artifact } from './artifacts.ts';
import { Bundler } from './bundle.ts';
import {
  type DefinitionCall,
  definitionProblems,
  deprecations,
  type LoadedEntry,
  type LoadedFunction,
  type LoadedProjection,
  projectionProblems,
  definitionCall,
  functionOption,
  namedExports,
} from './definition-call.ts';
import {
  isFunction,
  readAllEntries,
  type AnyEntry,
  type Entry,
  type ProjectionEntry,
} from './entries.ts';
import {
  callProblems,
  handleCalls,
  handleCandidates,
  handleMembers,
  handleNames,
  usesCheckpoints,
  batch,
  http,
  type HandleCall,
} from './handle-calls.ts';
import { CompileError, inOrder, problemAt, type Problem } from './problem.ts';
import { cannotFindModule, TypeChecker, type TypeCheckResult } from './type-checker.ts';

export interface CompiledFunction {
  readonly entry: Entry;
  readonly artifact: Artifact;
  readonly definition: FunctionDefinition;
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
}

export interface CompiledProjection {
  readonly entry: ProjectionEntry;
  readonly definition: FunctionDefinition;
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
}

export interface CompileResult {
  /** In the order of `index.ts`. */
  readonly functions: readonly CompiledFunction[];
  readonly projections: readonly CompiledProjection[];
  readonly warnings: readonly Problem[];
}

export type CompilerParts = BuildParts & { readonly sandbox: Pick<Sandbox, 'describe'> };

/**
 * Checks, bundles and describes the functions of a project's `index.ts`, incrementally: each call processes only
 * changes and their dependents. Writes nothing.
 */
export class ProjectCompiler implements AsyncDisposable {
  readonly #parts: CompilerParts;
  readonly #builder: EntryBuilder;
  /** By the text of the bundle. */
  #definitions = new Map<string, FunctionDefinition>();

  constructor(parts: CompilerParts) {
    this.#parts = parts;
    this.#builder = new EntryBuilder(parts);
  }

  /**
   * @param entries default: those of `index.ts`
   * @throws CompileError with all problems of the first stage that has any
   */
  async compile(
    entries: readonly AnyEntry[] = readAllEntries(this.#parts.root),
  ): Promise<CompileResult> {
    const { root, progress } = this.#parts;
    const { bundles, reviewed, warnings } = await this.#builder.build(entries);

    progress('Generating artifacts');
    const { loaded: all, problems } = await this.#load(entries, bundles, reviewed);
    const loaded = all.filter((one): one is LoadedFunction => isFunction(one.entry));
    const loadedProjections = all.filter((one): one is LoadedProjection => !isFunction(one.entry));
    problems.push(
      ...definitionProblems(root, loaded),
      ...projectionProblems(root, loadedProjections),
    );
    if (problems.length > 0) throw new CompileError(problems);

    const filesOf = (entry: AnyEntry) => ({
      bundle: bundles.get(entry.bundleName) ?? '',
      source: readFileSync(entry.path, 'utf8'),
    });
    const functions = loaded.map(({ entry, definition }) => ({
      entry,
      artifact: artifactOf(entry, definition, reviewed.get(entry.path)?.features ?? []),
      definition,
      ...filesOf(entry),
    }));
    const projections = loadedProjections.map(({ entry, definition }) => ({
      entry,
      definition,
      ...filesOf(entry),
    }));
    return {
      functions,
      projections,
      warnings: inOrder([...warnings, ...deprecations(root, loaded)]),
    };
  }

  /** The definitions, from the sandbox: loading a bundle runs its top-level code. */
  async #load(
    entries: readonly AnyEntry[],
    bundles: Built['bundles'],
    reviewed: Built['reviewed'],
  ): Promise<{ loaded: LoadedEntry<AnyEntry>[]; problems: Problem[] }> {
    const { root, sandbox } = this.#parts;
    const loaded: LoadedEntry<AnyEntry>[] = [];
    const problems: Problem[] = [];
    const definitions = new Map<string, FunctionDefinition>();
    for (const entry of entries) {
      const call = callOf(reviewed, entry);
      try {
        const bundle = bundles.get(entry.bundleName) ?? '';
        const definition =
          this.#definitions.get(bundle) ??
          (await sandbox.describe(bundle, `${entry.bundleName}.cjs`));
        definitions.set(bundle, definition);
        loaded.push({ entry, call, definition });
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code !== 'compilation_error') throw error;
        problems.push(problemAt(root, call.options, error.message));
      }
    }
    this.#definitions = definitions;
    return { loaded, problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#builder[Symbol.asyncDispose]();
  }
}

function callOf(reviewed: Built['reviewed'], entry: AnyEntry): DefinitionCall {
  const call = reviewed.get(entry.path)?.call;
  if (call === undefined) throw new Error(`no definition in ${entry.file}`);
  return call;
}

interface BuildParts {
  readonly root: string;
  readonly own: OwnPackage;
  /** Called at the start of each step, to show progress. */
  readonly progress: (line: string) => void;
  /** Program that runs the type checker; default: the checker itself. */
  readonly checker?: string;
}

/** Facts from the source of an entry. */
interface SourceFacts {
  readonly call: DefinitionCall;
  readonly features: readonly string[];
}

interface Built {
  readonly bundles: ReadonlyMap<string, string>;
  readonly reviewed: ReadonlyMap<string, SourceFacts>;
  readonly warnings: readonly Problem[];
}

/** Of a file. */
interface FileFindings {
  readonly fileName: string;
  readonly reviewed: SourceFacts | null;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Type-checks, reviews and bundles entries; what has not changed is neither read nor bundled again. */
class EntryBuilder implements AsyncDisposable {
  readonly #parts: BuildParts;
  readonly #checker: TypeChecker;
  readonly #bundler: Bundler;

  constructor(parts: BuildParts) {
    this.#parts = parts;
    this.#checker = new TypeChecker(parts.root, parts.own, parts.checker);
    this.#bundler = new Bundler(parts.root);
  }

  /** @throws CompileError */
  async build(entries: readonly AnyEntry[]): Promise<Built> {
    const { progress } = this.#parts;
    progress('Typechecking');
    const bundling = this.#bundler.bundle(entries);
    bundling.catch(() => undefined);
    const result = await this.#checker.check(entries.map(({ path }) => path));
    const found = await this.#review(entries, result);

    progress(`Building ${counted(entries.length, 'file')}`);
    const { bundles, problems: unbundled } = await bundling;
    const problems = [
      ...found.flatMap((one) => one.problems),
      ...unbundled,
      ...saidOnce(result.problems, unbundled),
    ];
    if (problems.length > 0) throw new CompileError(problems);
    const reviewed = found.flatMap(({ fileName, reviewed: review }) =>
      review === null ? [] : [[fileName, review] as const],
    );
    return {
      bundles,
      reviewed: new Map(reviewed),
      warnings: found.flatMap(({ warnings }) => warnings),
    };
  }

  #review(entries: readonly AnyEntry[], result: TypeCheckResult): Promise<FileFindings[]> {
    const { root } = this.#parts;
    const entryOf = new Map(entries.map((entry) => [entry.path, entry]));
    return Promise.all(
      result.files.map((file) => reviewFile(root, file, entryOf.get(file.fileName), result)),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#checker[Symbol.asyncDispose]();
    await this.#bundler[Symbol.asyncDispose]();
  }
}

async function reviewFile(
  root: string,
  file: ts.SourceFile,
  entry: AnyEntry | undefined,
  result: TypeCheckResult,
): Promise<FileFindings> {
  const review = entry === undefined ? null : reviewEntry(root, entry, file);
  const names = review?.names ?? new Set();
  const typed = await result.having(handleMembers, handleCandidates(file, names));
  const calls = handleCalls(file, names, typed);
  return {
    fileName: file.fileName,
    reviewed: review?.reviewed ?? null,
    problems: [...(review?.problems ?? []), ...callProblems(root, calls)],
    warnings: consoleUses(root, file),
  };
}

/** TypeScript's problems without missing modules that the bundler has reported on the same line. */
function saidOnce(problems: readonly Problem[], bundler: readonly Problem[]): Problem[] {
  const reported = new Set(bundler.map(({ file, line }) => `${file}:${line}`));
  return problems.filter(
    ({ file, line, message }) =>
      !message.startsWith(cannotFindModule) || !reported.has(`${file}:${line}`),
  );
}

interface Review {
  readonly reviewed: SourceFacts | null;
  readonly problems: readonly Problem[];
  /** Names of the handle in this file. */
  readonly names: ReadonlySet<string>;
}

function reviewEntry(root: string, entry: AnyEntry, file: ts.SourceFile): Review {
  const problems = namedExports(root, file);
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

/** `console` does nothing in a run: its output is lost. */
function consoleUses(root: string, file: ts.SourceFile): Problem[] {
  const found: Problem[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && node.expression.getText(file) === 'console') {
      const message = `console.${node.name.text}() has no effect in a run, use log() of the handle`;
      found.push(problemAt(root, node, message));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/**
 * Rules for the order of calls in a sync's `exec`, by position in the file (docs/reference/cli.md#compilation):
 * they report what is wrong on every branch, and nothing more.
 */
function orderProblems(root: string, calls: readonly HandleCall[]): Problem[] {
  const models = new Set(calls.flatMap((call) => modelOf(call) ?? []));
  return [
    ...[...models].flatMap((model) => trackDeletesProblems(root, calls, model)),
    ...[...models].flatMap((model) => previousExecutionsProblems(root, calls, model)),
    ...mergingProblems(root, calls),
  ];
}

/** Index of the model among the arguments. */
const modelArgument: ReadonlyMap<string, number> = new Map([
  ['trackDeletesStart', 0],
  ['trackDeletesEnd', 0],
  ['deleteRecordsFromPreviousExecutions', 0],
  ['batchSave', 1],
  ['batchUpdate', 1],
  ['batchDelete', 1],
  ['batchSend', 1],
]);

/** The model of a call: the text of a literal, otherwise the source of the expression. */
function modelOf({ call, method }: HandleCall): string | null {
  const argument: ts.Expression | undefined = call.arguments[modelArgument.get(method) ?? -1];
  if (argument === undefined) return null;
  return ts.isStringLiteralLike(argument) ? argument.text : argument.getText();
}

const at = ({ call }: HandleCall): number => call.expression.end;

function trackDeletesProblems(
  root: string,
  calls: readonly HandleCall[],
  model: string,
): Problem[] {
  const ofModel = calls.filter((call) => modelOf(call) === model);
  const starts = ofModel.filter(({ method }) => method === 'trackDeletesStart');
  const ends = ofModel.filter(({ method }) => method === 'trackDeletesEnd');
  const problems = [
    ...twice(root, starts, `trackDeletesStart() is called twice for the model '${model}'`),
    ...twice(root, ends, `trackDeletesEnd() is called twice for the model '${model}'`),
  ];
  const [start] = starts;
  const [end] = ends;
  if (start === undefined || end === undefined) {
    const [alone, missing] = start === undefined ? [end, 'Start'] : [start, 'End'];
    if (alone === undefined) return problems;
    const message = `${alone.method}() needs trackDeletes${missing}() for the model '${model}' too`;
    return [...problems, problemAt(root, alone.call, message)];
  }
  if (at(end) < at(start)) {
    const message = `trackDeletesEnd() comes before trackDeletesStart() for the model '${model}'`;
    return [...problems, problemAt(root, end.call, message)];
  }
  for (const one of ofModel.filter(({ method }) => batch.has(method))) {
    const side = at(one) < at(start) ? 'before trackDeletesStart()' : 'after trackDeletesEnd()';
    if (at(one) > at(start) && at(one) < at(end)) continue;
    problems.push(problemAt(root, one.call, `${one.method}() of '${model}' comes ${side}`));
  }
  return problems;
}

function previousExecutionsProblems(
  root: string,
  calls: readonly HandleCall[],
  model: string,
): Problem[] {
  const ofModel = calls.filter((call) => modelOf(call) === model);
  const name = 'deleteRecordsFromPreviousExecutions';
  const deletes = ofModel.filter(({ method }) => method === name);
  const [first] = deletes;
  if (first === undefined) return [];
  const late = ofModel.filter((call) => batch.has(call.method) && at(call) > at(first));
  return [
    ...twice(root, deletes, `${name}() is called twice for the model '${model}'`),
    ...late.map(({ call, method }) =>
      problemAt(root, call, `${method}() of '${model}' comes after ${name}()`),
    ),
  ];
}

function mergingProblems(root: string, calls: readonly HandleCall[]): Problem[] {
  const firstEffect = calls.find(({ method }) => http.has(method) || batch.has(method));
  if (firstEffect === undefined) return [];
  return calls
    .filter((call) => call.method === 'setMergingStrategy' && at(call) > at(firstEffect))
    .map(({ call }) =>
      problemAt(root, call, 'setMergingStrategy() must come before any HTTP or batch call'),
    );
}

const twice = (root: string, calls: readonly HandleCall[], message: string): Problem[] =>
  calls.slice(1).map(({ call }) => problemAt(root, call, message));
