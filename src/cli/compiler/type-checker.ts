import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import {
  API,
  DiagnosticCategory,
  type Diagnostic,
  type Project,
} from 'typescript-native/unstable/async';
import type { OwnPackage } from '../package.ts';
import { compilerChecks, generatedFolders } from '../project-layout.ts';
import { inProject, type Problem } from './problem.ts';

export interface TypeCheckResult {
  /** The entries and all project files that they import. */
  readonly files: readonly ts.SourceFile[];
  readonly problems: readonly Problem[];
  /** Those of the expressions of one file whose type has all of these members. */
  readonly having: (
    members: readonly string[],
    expressions: readonly ts.Expression[],
  ) => Promise<ReadonlySet<ts.Expression>>;
}

/** TypeScript's "cannot find module": the bundler's message is better where both report it. */
export const cannotFindModule = 'Cannot find module';

/** The process of the type checker ended, for example because it got no more memory. */
export class CheckerEnded extends Error {
  override readonly name = 'CheckerEnded';
}

const watchEveryMs = 200;

/**
 * Type-checks a project with the native TypeScript (docs/adr/0036-native-type-checks.md), whose process lives until
 * this is disposed of: a later check reads only what has changed. The files are parsed here once more, for the
 * rules of functions.
 */
export class TypeChecker implements AsyncDisposable {
  readonly #root: string;
  readonly #options: object;
  readonly #api: API;
  /** It exists only in memory. */
  readonly #configFile: string;
  #config = '';
  /** What identifies the content of each file below the root, by path. */
  #seen: ReadonlyMap<string, string> = new Map();
  readonly #parsed = new Map<string, ts.SourceFile>();

  /** `svc` and `zod` are those of this package. @param program that runs TypeScript; default: TypeScript itself */
  constructor(root: string, own: OwnPackage, program?: string) {
    this.#root = root;
    this.#configFile = join(root, '.svc', 'type-check.json');
    this.#options = {
      ...compilerChecks,
      module: 'esnext',
      // Relative imports may lack their extension, as for the bundler.
      moduleResolution: 'bundler',
      target: 'esnext',
      types: ['node'],
      typeRoots: [own.typeRoot],
      paths: { svc: [own.sdkPath], zod: [own.zodTypesPath] },
    };
    const readFile = (path: string) => (path === this.#configFile ? this.#config : undefined);
    const executable = program === undefined ? {} : { tsserverPath: program };
    this.#api = new API({ cwd: root, fs: { readFile }, ...executable });
  }

  /**
   * Checks the files at these absolute paths with all their imports.
   * @throws CheckerEnded
   */
  check(paths: readonly string[]): Promise<TypeCheckResult> {
    return this.#unlessEnded(this.#check(paths));
  }

  async #check(paths: readonly string[]): Promise<TypeCheckResult> {
    const { program, checker } = await this.#projectOf(paths);
    const all = await program.getSourceFileNames();
    const names = all.filter((name) => this.#isOwn(name));
    const files = names.map((name) => this.#parse(name));
    for (const name of this.#parsed.keys()) if (!names.includes(name)) this.#parsed.delete(name);
    const found = await Promise.all([
      program.getConfigFileParsingDiagnostics(),
      program.getProgramDiagnostics(),
      program.getGlobalDiagnostics(),
      ...names.flatMap((name) => [
        program.getSyntacticDiagnostics(name),
        program.getSemanticDiagnostics(name),
      ]),
    ]);
    const having: TypeCheckResult['having'] = async (members, expressions) => {
      const [first] = expressions;
      if (first === undefined) return new Set();
      const { fileName } = first.getSourceFile();
      const positions = expressions.map((one) => one.getStart());
      const types = await checker.getTypeAtPosition(fileName, positions);
      const matching = expressions.map(async (expression, at) => {
        const type = types[at];
        if (type === undefined) return [];
        const properties = members.map((name) => checker.getPropertyOfType(type, name));
        return (await Promise.all(properties)).every(Boolean) ? [expression] : [];
      });
      return new Set((await Promise.all(matching)).flat());
    };
    return {
      files,
      problems: found
        .flat()
        .filter(isError)
        .map((one) => this.#problemOf(one)),
      having: (members, expressions) => this.#unlessEnded(having(members, expressions)),
    };
  }

  /** What the process is asked for never ends if it has ended itself, and the API does not say so. */
  async #unlessEnded<T>(work: Promise<T>): Promise<T> {
    const { client } = this.#api as unknown as { client: { process?: ChildProcess } };
    const ended = Promise.withResolvers<never>();
    const watch = setInterval(() => {
      const { exitCode = null, signalCode = null } = client.process ?? {};
      if (exitCode !== null || signalCode !== null) ended.reject(new CheckerEnded());
    }, watchEveryMs);
    try {
      return await Promise.race([work, ended.promise]);
    } finally {
      clearInterval(watch);
    }
  }

  async #projectOf(paths: readonly string[]): Promise<Project> {
    const before = this.#seen;
    const after = new Map(filesBelow(this.#root));
    const isFirst = this.#config === '';
    this.#seen = after;
    this.#config = JSON.stringify({ compilerOptions: this.#options, files: paths });
    const snapshot = await this.#api.updateSnapshot({
      ...(isFirst ? { openProjects: [this.#configFile] } : {}),
      fileChanges: {
        created: [...after.keys()].filter((path) => !before.has(path)),
        deleted: [...before.keys()].filter((path) => !after.has(path)),
        changed: [
          this.#configFile,
          ...[...after].flatMap(([path, state]) =>
            before.has(path) && before.get(path) !== state ? [path] : [],
          ),
        ],
      },
    });
    const project = snapshot.getProject(this.#configFile);
    if (project === undefined) throw new Error('the compiler lost the project');
    return project;
  }

  #parse(path: string): ts.SourceFile {
    const text = readFileSync(path, 'utf8');
    const existing = this.#parsed.get(path);
    if (existing?.text === text) return existing;
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true);
    this.#parsed.set(path, file);
    return file;
  }

  #isOwn(fileName: string): boolean {
    const path = inProject(this.#root, fileName);
    const isSource = /\.[cm]?tsx?$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
    return isSource && !path.startsWith('../') && !path.includes('node_modules/');
  }

  #problemOf(diagnostic: Diagnostic): Problem {
    const { fileName, pos, end } = diagnostic;
    const message = diagnosticText(diagnostic);
    const file = fileName === undefined ? undefined : this.#parsed.get(fileName);
    if (file === undefined) return { file: 'index.ts', line: 1, message };
    const position = file.getLineAndCharacterOfPosition(pos);
    return {
      file: inProject(this.#root, file.fileName),
      line: position.line + 1,
      column: position.character + 1,
      length: end - pos,
      message,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Ctrl-C ends the process as well, before it is asked or while it is.
    await this.#unlessEnded(this.#api.close()).catch(() => undefined);
  }
}

const isError = ({ category }: Diagnostic): boolean => category === DiagnosticCategory.Error;

/** With the reasons below it, each further in than the one that it explains. */
function diagnosticText({ text, messageChain = [] }: Diagnostic, depth = 0): string {
  const reasons = messageChain.map((one) => `\n${diagnosticText(one, depth + 1)}`);
  return `${'  '.repeat(depth)}${text}${reasons.join('')}`;
}

/** Path and state of each file of the project that may be imported. */
function* filesBelow(folder: string): Generator<[path: string, state: string]> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!generatedFolders.has(entry.name)) yield* filesBelow(path);
      continue;
    }
    const { mtimeMs, size, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
    yield [path, `${mtimeMs} ${size} ${ino}`];
  }
}
