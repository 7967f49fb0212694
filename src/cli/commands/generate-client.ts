import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject, objectOf, type Json } from '#kernel/stable-json.ts';
import { defineCommand } from '../command.ts';
import { clientText } from '../generate/client.ts';
import {
  configuredIntegrations,
  inEnvironment,
  serviceHelp,
  serviceOptions,
} from '../service-command.ts';

const fileDefault = 'svc-client.ts';

export const generateClient = defineCommand({
  name: 'generate:client',
  usage: '',
  summary: 'Write a client with the types of the deployed functions',
  about: `Writes one TypeScript file for an application: a client whose records have the types of their models, and
whose actions have the types of their input and output, as the functions of the environment declare them. It imports
the client that the application has installed: by default the package of the client if package.json names it,
otherwise the client within this package.`,
  options: {
    environment: serviceOptions.environment,
    out: ['-o, --out <file>', `the file (${fileDefault})`],
    from: ['--from <module>', 'the client that it imports'],
  },
  help: `${serviceHelp}

Examples
  svc generate:client -e dev
  svc generate client -e prod --out src/svc-client.ts`,

  async run({ values }, context) {
    const { root, own, output } = context;
    const file = values.out ?? fileDefault;
    const path = resolve(root, file);
    const module = values.from ?? installedClient(dirname(path), own.name);
    await inEnvironment(context, values, async (client) => {
      const text = clientText(await configuredIntegrations(client), module);
      const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
      if (!isCurrent) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
      output.result(`${isCurrent ? 'Unchanged:' : 'Wrote'} ${file}`);
    });
  },
});

/** The client of the nearest package.json: the package of its own, or the one within this package. */
function installedClient(folder: string, name: string): string {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) {
    const above = dirname(folder);
    return above === folder ? `${name}/client` : installedClient(above, name);
  }
  const { dependencies, devDependencies } = objectOf(parsed(readFileSync(manifest, 'utf8')));
  const all = { ...objectOf(dependencies), ...objectOf(devDependencies) };
  return `${name}-client` in all ? `${name}-client` : `${name}/client`;
}

/** An unreadable manifest names nothing. */
function parsed(text: string): Json {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
