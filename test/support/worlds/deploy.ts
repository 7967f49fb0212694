import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { ProjectCompiler } from '#cli/compiler/compile.ts';
import { packageFunctions } from '#cli/deploy/package.ts';
import { ownPackage } from '#cli/package.ts';

const rootOfTests = fileURLToPath(new URL('../../e2e/functions', import.meta.url));

/** Names the file in which a run of the tests keeps what `compileFunctions` made. */
export const compiledVariable = 'SVC_TEST_FUNCTIONS';

/** The body that deploys the functions of `test/e2e/functions`, compiled once for a run of the tests. */
export async function compiledFunctions(): Promise<object> {
  const file = process.env[compiledVariable];
  return file === undefined
    ? compileFunctions()
    : (JSON.parse(await readFile(file, 'utf8')) as object);
}

/**
 * Compiles functions, those of `test/e2e/functions` by default, as the command line does it.
 * @throws CompileError
 */
export async function compileFunctions(root: string = rootOfTests): Promise<object> {
  await using sandbox = await openSandbox({ childrenMax: 1 });
  await using compiler = new ProjectCompiler({
    root,
    own: ownPackage(),
    sandbox,
    progress: () => undefined,
  });
  const { functions } = await compiler.compile();
  return packageFunctions(functions, {}, undefined).request;
}
