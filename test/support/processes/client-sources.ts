import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { run } from '#test/services/commands.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
/** What `@integration-gateway/svc-client` is here: the source of the client. */
const client = join(repository, 'src/client/index.ts');

/** Checks the TypeScript files of an application of the client, strictly. @throws Error with the messages */
export async function checkSources(folder: string): Promise<void> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
    paths: { '@integration-gateway/svc-client': [client] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const tsc = join(repository, 'node_modules/typescript-native/bin/tsc');
  await run(process.execPath, [tsc, '-p', folder]);
}

/** The program of a source with the client in it. */
export async function buildSource(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    format: 'esm',
    alias: { '@integration-gateway/svc-client': client },
  });
  return outputFiles.map(({ text }) => text).join('');
}
