/** The functions of the demo provider as a deployment, compiled with the programs so that they need no network. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const project = 'examples/demo-provider';
/** What the compiled functions depend on. */
const inputs = [
  `${project}/**/*.ts`,
  'src/cli/{compiler,deploy}/*.ts',
  'src/sdk/*.ts',
  'src/adapters/sandbox/**/*.ts',
  'package-lock.json',
];

/** The functions as JSON, compiled again only when an input has changed: their type check takes seconds. */
export async function demoFunctions(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync(inputs, { cwd: root }).sort()) {
    hash
      .update(file)
      .update('\n')
      .update(readFileSync(join(root, file)));
  }
  const cached = join(root, `node_modules/.cache/demo-functions/${hash.digest('hex')}.json`);
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  const text = await compiled(root);
  mkdirSync(dirname(cached), { recursive: true });
  writeFileSync(cached, text);
  return text;
}

async function compiled(root: string): Promise<string> {
  const [{ ProjectCompiler }, { ownPackage }, { flowConfig }, { openSandbox }] = await Promise.all([
    import('#cli/compiler/compile.ts'),
    import('#cli/package.ts'),
    import('#cli/deploy/package.ts'),
    import('#adapters/sandbox/sandbox.ts'),
  ]);
  await using sandbox = await openSandbox({ childrenMax: 1, spares: 1 });
  const parts = { root: join(root, project), own: ownPackage(), sandbox };
  await using compiler = new ProjectCompiler({ ...parts, progress: () => undefined });
  const { functions } = await compiler.compile();
  return JSON.stringify(functions.map(flowConfig));
}
