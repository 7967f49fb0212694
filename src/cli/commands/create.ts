import { existsSync, mkdirSync, writeFileSync, statSync } from 'node:fs';
import { dirname, join, basename, resolve } from 'node:path';
import { counted } from '#kernel/counted.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import { defineCommand, type Options } from '../command.ts';
import { mayPrompt, type Context } from '../context.ts';
import { demoIntegrations, projectFiles } from '../demo-project.ts';
import { installDependencies, vitestVersion, wantedDependencies } from '../dependencies.ts';
import { CommandFailure, usageError } from '../exit.ts';
import {
  functionNamePattern,
  functionPath,
  integrationKeyPattern,
  kinds,
} from '../project-layout.ts';
import { nameInIndex, requireProject } from '../project.ts';
import { functionScaffold, type Files } from '../scaffold.ts';
import { compileStep } from './compile.ts';

export const init = defineCommand({
  name: 'init',
  usage: '[path]',
  summary: 'Create a project with example functions',
  about: `Creates the folder (default: the current one) with a sync, an action and an on-event function for the demo
provider, and their tests; installs the dependencies and compiles them. Existing files are not changed.`,
  options: {
    copy: ['--copy', 'only write the files'],
  },
  help: `Examples
  svc init svc-integrations
  svc init --copy`,

  async run({ positionals, values }, context) {
    const root = resolve(context.root, positionals[0] ?? '.');
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new CommandFailure(`${root} exists and is not a folder`);
    }
    mkdirSync(root, { recursive: true });
    const written = writeMissing(root, {
      'package.json': manifest(root, context),
      ...projectFiles(),
    });
    context.output.note(`Wrote ${counted(written.length, 'file')} to ${root}`);
    if (values.copy !== true) {
      const { environment, output } = context;
      const mayInstall = values['dependency-update'] !== false && environment.dependencyUpdate;
      if (mayInstall && !environment.isCi) installDependencies(root, output);
      await using sandbox = await context.openSandbox();
      await compileStep({ ...context, root }, values, sandbox);
    }
    const isHere = root === resolve(context.root);
    context.output.result(
      `The project is ready${isHere ? '. Next:' : ` in ${root}. Next, in this folder:`}
  npx svc add            adds tested functions of providers, such as npx svc add hubspot/contacts
  npx svc dev --fakes    runs all functions on fakes of their providers, without an account or a service
  npx svc test           runs their tests
With a gateway on this machine, and its API key of dev in .env:
  npx svc deploy         deploys them, and creates the integration demo on the demo provider of the gateway
  npx svc connect demo me --credentials '{"type":"API_KEY","apiKey":"demo"}'
  npx svc records Contact me -i demo`,
    );
  },
});

/** Writes the missing files and returns their names. */
function writeMissing(root: string, files: Files): string[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const path = join(root, file);
    if (existsSync(path)) return [];
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return [file];
  });
}

function manifest(root: string, { own }: Context): string {
  const name = basename(root)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/g, '-');
  const content = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    svc: { integrations: demoIntegrations },
    devDependencies: { ...wantedDependencies(root, own), vitest: vitestVersion },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

const options = {
  sync: ['--sync', 'a sync'],
  action: ['--action', 'an action'],
  'on-event': ['--on-event', 'an on-event function'],
  'on-change': ['--on-change', 'an on-change function'],
} as const satisfies Options;

export const create = defineCommand({
  name: 'create',
  usage: '[integration] [name]',
  summary: 'Add a function to the project',
  about: `Writes <integration>/<kind>s/<name>.ts and adds it to index.ts. An existing file is an error.
`,
  options,
  help: `Examples
  svc create crm contacts --sync
  svc create crm create-contact --action`,

  async run({ positionals, values }, context) {
    requireProject(context.root);
    requireIndex(context.root);
    const canAsk = mayPrompt(context, values.interactive);
    const chosen = kinds.filter((kind) => values[kind] === true);
    if (chosen.length > 1) {
      throw usageError('Choose one of --sync, --action, --on-event and --on-change');
    }
    const kind = chosen[0] ?? (await askKind(context, canAsk));
    const key = positionals[0] ?? (await askFor(context, canAsk, 'Integration'));
    const name = positionals[1] ?? (await askFor(context, canAsk, 'Name of the function'));
    addFunction(context, key, kind, name);
  },
});

function addFunction(context: Context, key: string, kind: FunctionKind, name: string): void {
  if (!integrationKeyPattern.test(key) || /^\.{1,2}$/.test(key)) {
    throw new CommandFailure(`"${key}" cannot be the key of an integration`);
  }
  if (!functionNamePattern.test(name)) {
    throw new CommandFailure(`"${name}" cannot be a name: use letters, digits, - and _`);
  }
  const file = `${functionPath(key, kind, name)}.ts`;
  const path = join(context.root, file);
  if (existsSync(path)) throw new CommandFailure(`${file} exists already`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, functionScaffold(kind));

  nameInIndex(context.root, key, kind, name);
  context.output.result(`Created ${file}`);
}

function requireIndex(root: string): void {
  if (!existsSync(join(root, 'index.ts'))) throw new CommandFailure('Not inside a svc folder');
}

async function askKind(context: Context, canAsk: boolean): Promise<FunctionKind> {
  const answer = await askFor(context, canAsk, 'Kind (sync, action, on-event or on-change)');
  const kind = kinds.find((existing) => existing === answer);
  if (kind === undefined)
    throw new CommandFailure(`Answer sync, action, on-event or on-change, not "${answer}"`);
  return kind;
}

async function askFor(context: Context, canAsk: boolean, what: string): Promise<string> {
  const answer = canAsk ? await context.prompt(`${what}: `) : '';
  if (answer === '') throw usageError(`Missing: ${what}`);
  return answer;
}
