import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import type { OwnPackage } from '../package.ts';
import { inProject, type Problem } from './problem.ts';

/** What the user's files are checked with, whatever their tsconfig.json says (contract/cli.md section 2). */
export const compilerOptions = {
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  target: ts.ScriptTarget.ESNext,
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noPropertyAccessFromIndexSignature: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  noFallthroughCasesInSwitch: true,
  skipLibCheck: true,
  esModuleInterop: true,
  resolveJsonModule: true,
  noEmit: true,
  allowImportingTsExtensions: true,
} as const satisfies ts.CompilerOptions;

export interface Checked {
  readonly program: ts.Program;
  readonly checker: ts.TypeChecker;
  /** The entries and everything of the project that they import. */
  readonly files: readonly ts.SourceFile[];
  readonly problems: readonly Problem[];
}

/** TypeScript's "cannot find module": the bundler says it better where it complains too. */
export const cannotFindModule = 'Cannot find module';

/** Type-checks the entries with all they import. `svc` and `zod` are those of this package. */
export function typecheck(root: string, paths: readonly string[], own: OwnPackage): Checked {
  const options: ts.CompilerOptions = {
    ...compilerOptions,
    types: ['node'],
    typeRoots: [own.typeRoot],
    paths: { svc: [own.sdkPath], zod: [own.zodTypesPath] },
  };
  const program = ts.createProgram({
    rootNames: [...paths],
    options,
    host: projectHost(root, options),
  });
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter((file) => isOwnFile(root, file));
  const diagnostics = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [
      ...program.getSyntacticDiagnostics(file),
      ...program.getSemanticDiagnostics(file),
    ]),
  ];
  return { program, checker, files, problems: diagnostics.map((one) => problemOf(root, one)) };
}

function isOwnFile(root: string, file: ts.SourceFile): boolean {
  const path = inProject(root, file.fileName);
  return !file.isDeclarationFile && !path.startsWith('../') && !path.includes('node_modules/');
}

/** Also finds relative imports without an extension, which Node's own rules would refuse. */
function projectHost(root: string, options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options, true);
  const cache = ts.createModuleResolutionCache(root, (name) => name, options);
  return {
    ...host,
    getCurrentDirectory: () => root,
    resolveModuleNameLiterals: (literals, containing, redirect, _options, file) =>
      literals.map((literal) => {
        const mode = ts.getModeForUsageLocation(file, literal, options);
        const name = literal.text;
        const found = ts.resolveModuleName(name, containing, options, host, cache, redirect, mode);
        if (found.resolvedModule !== undefined || !name.startsWith('.')) return found;
        const base = resolve(dirname(containing), name);
        const path = [`${base}.ts`, `${base}/index.ts`].find((candidate) => existsSync(candidate));
        if (path === undefined) return found;
        return { resolvedModule: { resolvedFileName: path, extension: ts.Extension.Ts } };
      }),
  };
}

function problemOf(root: string, diagnostic: ts.Diagnostic): Problem {
  const message = ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n');
  if (diagnostic.file === undefined) return { file: 'index.ts', line: 1, message };
  const place = diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start ?? 0);
  return {
    file: inProject(root, diagnostic.file.fileName),
    line: place.line + 1,
    column: place.character + 1,
    message,
  };
}
