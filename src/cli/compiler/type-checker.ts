import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import type { OwnPackage } from '../package.ts';
import { compilerChecks } from '../project-layout.ts';
import { inProject, type Problem } from './problem.ts';

export interface Checked {
  readonly checker: ts.TypeChecker;
  /** The entries and all project files that they import. */
  readonly files: readonly ts.SourceFile[];
  /** Those of `files` whose text or imports have changed since the previous check. */
  readonly affected: ReadonlySet<ts.SourceFile>;
  /** Of all files, including unchanged ones. */
  readonly problems: readonly Problem[];
  /** @throws Error when the path is no entry */
  readonly fileAt: (path: string) => ts.SourceFile;
}

/** TypeScript's "cannot find module": the bundler's message is better where both report it. */
export const cannotFindModule = 'Cannot find module';

/**
 * Type-checks a project incrementally: a check only processes files whose text, or whose imports' types, have
 * changed since the previous one.
 */
export class TypeChecker {
  readonly #root: string;
  readonly #options: ts.CompilerOptions;
  readonly #host: ts.CompilerHost;
  #builder: ts.SemanticDiagnosticsBuilderProgram | undefined;
  readonly #problems = new Map<string, readonly Problem[]>();

  /** `svc` and `zod` are those of this package. */
  constructor(root: string, own: OwnPackage) {
    this.#root = root;
    this.#options = {
      ...compilerChecks,
      module: ts.ModuleKind.Node16,
      moduleResolution: ts.ModuleResolutionKind.Node16,
      target: ts.ScriptTarget.ESNext,
      types: ['node'],
      typeRoots: [own.typeRoot],
      paths: { svc: [own.sdkPath], zod: [own.zodTypesPath] },
    };
    this.#host = projectHost(root, this.#options);
  }

  /** Checks the files at these absolute paths with all their imports. */
  check(paths: readonly string[]): Checked {
    const builder = ts.createSemanticDiagnosticsBuilderProgram(
      [...paths],
      this.#options,
      this.#host,
      this.#builder,
    );
    this.#builder = builder;
    const program = builder.getProgram();
    const files = program.getSourceFiles().filter((file) => this.#isOwn(file));
    const affected = this.#checkAffected(builder);
    const names = new Set(files.map(({ fileName }) => fileName));
    for (const name of this.#problems.keys()) if (!names.has(name)) this.#problems.delete(name);
    const general = [...builder.getOptionsDiagnostics(), ...builder.getGlobalDiagnostics()];
    return {
      checker: program.getTypeChecker(),
      files,
      affected,
      problems: [
        ...general.map((one) => this.#problemOf(one)),
        ...files.flatMap(({ fileName }) => this.#problems.get(fileName) ?? []),
      ],
      fileAt: (path) => {
        const file = program.getSourceFile(path);
        if (file === undefined) throw new Error(`the compiler lost ${path}`);
        return file;
      },
    };
  }

  #checkAffected(builder: ts.SemanticDiagnosticsBuilderProgram): Set<ts.SourceFile> {
    const affected = new Set<ts.SourceFile>();
    for (;;) {
      const next = builder.getSemanticDiagnosticsOfNextAffectedFile();
      if (next === undefined) return affected;
      const file = next.affected;
      if (!('fileName' in file) || !this.#isOwn(file)) continue;
      affected.add(file);
      const diagnostics = [...builder.getSyntacticDiagnostics(file), ...next.result];
      this.#problems.set(
        file.fileName,
        diagnostics.map((one) => this.#problemOf(one)),
      );
    }
  }

  #isOwn(file: ts.SourceFile): boolean {
    const path = inProject(this.#root, file.fileName);
    return !file.isDeclarationFile && !path.startsWith('../') && !path.includes('node_modules/');
  }

  #problemOf(diagnostic: ts.Diagnostic): Problem {
    const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
    if (diagnostic.file === undefined) return { file: 'index.ts', line: 1, message };
    const { file, start = 0, length = 0 } = diagnostic;
    const position = file.getLineAndCharacterOfPosition(start);
    return {
      file: inProject(this.#root, file.fileName),
      line: position.line + 1,
      column: position.character + 1,
      length,
      message,
    };
  }
}

/**
 * Files outside projects by path: those of the language, of Node, zod and `svc`. They never change, and take most
 * of the time of a first check.
 */
const installed = new Map<string, ts.SourceFile>();

/**
 * Caches parsed files until their text changes. Also resolves relative imports without an extension, which Node's
 * own rules would refuse.
 */
function projectHost(root: string, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options, true);
  const packages = ts.createModuleResolutionCache(root, (name) => name, options);
  const parsed = new Map<string, ts.SourceFile & { version?: string }>();
  const unresolved = new Set<string>();
  const isOwn = (path: string): boolean => {
    const inside = inProject(root, path);
    return !inside.startsWith('../') && !inside.includes('node_modules/');
  };
  return {
    ...host,
    getCurrentDirectory: () => root,
    getSourceFile: (path, languageVersion) => {
      const kept = isOwn(path) ? parsed : installed;
      const existing = kept.get(path);
      if (existing !== undefined && kept === installed) return existing;
      const text = host.readFile(path);
      if (text === undefined) {
        kept.delete(path);
        return undefined;
      }
      if (existing?.text === text) return existing;
      const file: ts.SourceFile & { version?: string } = ts.createSourceFile(
        path,
        text,
        languageVersion,
        true,
      );
      file.version = createHash('sha256').update(text).digest('base64');
      kept.set(path, file);
      return file;
    },
    hasInvalidatedResolutions: (path) => unresolved.has(path),
    resolveModuleNameLiterals: (literals, containing, redirect, _options, file) => {
      unresolved.delete(containing);
      return literals.map((literal) => {
        const mode = ts.getModeForUsageLocation(file, literal, options);
        const name = literal.text;
        const isRelative = name.startsWith('.');
        const cache = isRelative ? undefined : packages;
        const found = ts.resolveModuleName(name, containing, options, host, cache, redirect, mode);
        if (found.resolvedModule !== undefined || !isRelative) return found;
        const base = resolve(dirname(containing), name);
        const path = [`${base}.ts`, `${base}/index.ts`].find((candidate) => existsSync(candidate));
        if (path === undefined) {
          unresolved.add(containing);
          return found;
        }
        return { resolvedModule: { resolvedFileName: path, extension: ts.Extension.Ts } };
      });
    },
  };
}
