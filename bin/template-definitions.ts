/** What the definitions of the templates say: their models and schemas stand in no text, and are read by running them. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { templateProviders, templatesOf, type TemplateDefinition } from '#rules/templates.ts';

/** What the definitions depend on. */
const inputs = [
  'templates/**/*.ts',
  'bin/template-definitions.ts',
  'src/cli/compiler/*.ts',
  'src/sdk/*.ts',
  'src/adapters/sandbox/**/*.ts',
  'package-lock.json',
];

/** As JSON by the file of the function, read again only when an input has changed. */
export async function templateDefinitions(root: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of globSync(inputs, { cwd: root }).sort()) {
    hash
      .update(file)
      .update('\n')
      .update(readFileSync(join(root, file)));
  }
  const cached = join(root, `node_modules/.cache/template-definitions/${hash.digest('hex')}.json`);
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  const text = JSON.stringify(await readDefinitions(join(root, 'templates')));
  mkdirSync(dirname(cached), { recursive: true });
  writeFileSync(cached, text);
  return text;
}

/** Without the check of types, which `npm run types` makes of all templates. */
async function readDefinitions(folder: string): Promise<Record<string, TemplateDefinition>> {
  const [{ Bundler }, { artifactOf }, { openSandbox }] = await Promise.all([
    import('#cli/compiler/bundle.ts'),
    import('#cli/compiler/artifacts.ts'),
    import('#adapters/sandbox/sandbox.ts'),
  ]);
  const entries = templateProviders(folder)
    .flatMap((provider) => templatesOf(provider, folder))
    .map(({ provider, kind, name, file }) => ({
      integrationKey: provider,
      kind,
      name,
      path: join(folder, file),
      file,
      bundleName: file.replaceAll('/', '_'),
    }));
  await using sandbox = await openSandbox({ childrenMax: 1, spares: 1 });
  await using bundler = new Bundler(folder);
  const { bundles, problems } = await bundler.bundle(entries);
  const [problem] = problems;
  if (problem !== undefined) throw new Error(`${problem.file}: ${problem.message}`);
  const definitions: Record<string, TemplateDefinition> = {};
  for (const entry of entries) {
    const bundle = bundles.get(entry.bundleName) ?? '';
    const definition = await sandbox.describe(bundle, `${entry.bundleName}.cjs`);
    const artifact = artifactOf(entry, definition, []);
    if (artifact.type === 'on-change') throw new Error(`${entry.file}: no kind of a template`);
    const { description, version, scopes, metadata } = definition;
    const common = { description, version, scopes, metadata };
    definitions[entry.file] =
      artifact.type === 'on-event'
        ? { ...common, event: artifact.event }
        : {
            ...common,
            returns: artifact.output,
            jsonSchema: artifact.json_schema,
            ...(artifact.type === 'sync'
              ? { runs: artifact.runs, autoStart: artifact.auto_start }
              : { input: artifact.input }),
          };
  }
  return definitions;
}
