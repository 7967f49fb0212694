import type { FunctionKind } from '#modules/functions/functions/function.ts';

export const kinds = [
  'sync',
  'action',
  'on-event',
  'on-change',
] as const satisfies readonly FunctionKind[];

/** The folder of an integration that holds the functions of a kind. */
export const kindFolder: Readonly<Record<FunctionKind, string>> = {
  sync: 'syncs',
  action: 'actions',
  'on-event': 'on-events',
  'on-change': 'on-changes',
};

/** The folder of a project that holds its projections, which belong to no integration. */
export const projectionsFolder = 'projections';

/** Folder of an integration with its fixtures (templates/README.md). */
export const fixturesFolder = 'fixtures';

/** Folders of a project without sources of functions. */
export const generatedFolders: ReadonlySet<string> = new Set([
  'node_modules',
  '.svc',
  'dist',
  'build',
  '.git',
]);

/** Path of a function's file, without extension. */
export const functionPath = (integrationKey: string, kind: FunctionKind, name: string): string =>
  `${integrationKey}/${kindFolder[kind]}/${name}`;

/** The line of `index.ts` that names a function. */
export const importLine = (integrationKey: string, kind: FunctionKind, name: string): string =>
  `import './${functionPath(integrationKey, kind, name)}.js';\n`;

/** Rules for names in the API (docs/reference/http.md#names-and-ids): a deployment would refuse others. */
export const integrationKeyPattern = /^[a-zA-Z0-9~:.@ _-]{1,255}$/;
export const connectionIdPattern = /^[a-zA-Z0-9,.;:=+~[\]|@${}"'\\/_ -]{1,255}$/;
export const functionNamePattern = /^[a-zA-Z0-9_-]{1,255}$/;

/** The checks of the user's files, whatever their tsconfig.json says. */
export const compilerChecks = {
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
} as const;
