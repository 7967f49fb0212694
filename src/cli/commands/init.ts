import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import type { Context } from '../context.ts';
import { installDependencies, wantedDependencies } from '../dependencies.ts';
import { CommandFailure } from '../exit.ts';
import { projectFiles, type Files } from '../scaffold.ts';
import { compileStep } from './compile.ts';

export const init = defineCommand({
  name: 'init',
  usage: '[path]',
  summary: 'Create a project with example functions',
  about: `Creates the folder (default: the current one) with a sync, an action and an on-event function of a demo
integration, installs the dependencies and compiles them. Existing files are not changed.`,
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
    context.output.note(`Wrote ${written.length} files to ${root}`);
    if (values.copy !== true) {
      const { environment, output } = context;
      const mayInstall = values['dependency-update'] !== false && environment.dependencyUpdate;
      if (mayInstall && !environment.isCi) installDependencies(root, output);
      await using sandbox = await context.openSandbox();
      await compileStep({ ...context, root }, values, sandbox);
    }
    context.output.result(
      'The project is ready: put your API keys into .env, then run svc deploy dev.\n' +
        'Its examples belong to an integration demo: svc connect demo -e dev --provider <provider> creates it.',
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
    devDependencies: wantedDependencies(root, own),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}
