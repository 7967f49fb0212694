import { readFileSync } from 'node:fs';
import { GatewayError } from '#kernel/errors.ts';
import type { FunctionDefinition, Sandbox } from '#ports/sandbox.ts';
import { artifactOf, type Artifact } from './artifacts.ts';
import {
  type DefinitionCall,
  definitionProblems,
  deprecations,
  type LoadedFunction,
} from './definition-call.ts';
import { readEntries, type Entry } from './entries.ts';
import { EntryBuilder, type BuildParts, type Built } from './entry-builder.ts';
import { CompileError, inOrder, problemAt, type Problem } from './problem.ts';

export interface CompiledFunction {
  readonly entry: Entry;
  readonly artifact: Artifact;
  readonly definition: FunctionDefinition;
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
}

export interface CompileResult {
  /** In the order of `index.ts`. */
  readonly functions: readonly CompiledFunction[];
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

  /** @throws CompileError with all problems of the first stage that has any */
  async compile(): Promise<CompileResult> {
    const { root, progress } = this.#parts;
    const entries = readEntries(root);
    const { bundles, reviewed, warnings } = await this.#builder.build(entries);

    progress('Generating artifacts');
    const { loaded, problems } = await this.#load(entries, bundles, reviewed);
    problems.push(...definitionProblems(root, loaded));
    if (problems.length > 0) throw new CompileError(problems);

    const functions = loaded.map(({ entry, definition }) => ({
      entry,
      artifact: artifactOf(entry, definition, reviewed.get(entry.path)?.features ?? []),
      definition,
      bundle: bundles.get(entry.bundleName) ?? '',
      source: readFileSync(entry.path, 'utf8'),
    }));
    return { functions, warnings: inOrder([...warnings, ...deprecations(root, loaded)]) };
  }

  /** The definitions, from the sandbox: loading a bundle runs its top-level code. */
  async #load(
    entries: readonly Entry[],
    bundles: Built['bundles'],
    reviewed: Built['reviewed'],
  ): Promise<{ loaded: LoadedFunction[]; problems: Problem[] }> {
    const { root, sandbox } = this.#parts;
    const loaded: LoadedFunction[] = [];
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

function callOf(reviewed: Built['reviewed'], entry: Entry): DefinitionCall {
  const call = reviewed.get(entry.path)?.call;
  if (call === undefined) throw new Error(`no definition in ${entry.file}`);
  return call;
}
