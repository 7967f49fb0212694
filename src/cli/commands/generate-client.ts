import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { quoted, typeOf } from '#json-schema/typescript.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { defineCommand } from '../command.ts';
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

/** A deployed function, as far as its types go. */
interface TypedFunction {
  readonly name: string;
  readonly description?: string | undefined;
  /** The definition of the input of an action. */
  readonly input?: string | undefined;
  /** The definitions of the models of a sync, or of the output of an action. */
  readonly returns?: readonly string[] | undefined;
  readonly json_schema?: unknown;
}

interface TypedIntegration {
  readonly providerConfigKey: string;
  readonly syncs: readonly TypedFunction[];
  readonly actions: readonly TypedFunction[];
}

/** The source of a client whose records and actions have the types of the deployed functions. */
export function clientText(integrations: readonly TypedIntegration[], module: string): string {
  const references = new References();
  const members = integrations.map((integration) => {
    const { providerConfigKey: key, syncs, actions } = integration;
    const parts = [
      ...block('models', modelsOf(syncs, references)),
      ...block(
        'actions',
        actions.map((action) => actionText(action, references)),
      ),
    ];
    return [`  readonly ${quoted(key)}: {`, ...parts.map((line) => `    ${line}`), '  };'].join(
      '\n',
    );
  });
  return `/* eslint-disable -- written by \`svc generate client\`; do not edit */
import { createTypedClient, type ClientOptions, type TypedClient } from ${quoted(module)};

/** The models and actions of each integration, from the deployed functions. */
export type Deployed = {
${members.join('\n')}
};
${references.text()}
/** A client of the gateway that knows them. */
export const createSvcClient = (options: ClientOptions): TypedClient<Deployed> =>
  createTypedClient<Deployed>(options);
`;
}

const block = (name: string, lines: readonly string[]): string[] =>
  lines.length === 0
    ? [`readonly ${name}: {};`]
    : [`readonly ${name}: {`, ...lines.map((line) => `  ${line}`), '};'];

/** A model that several syncs save may have several shapes. */
function modelsOf(syncs: readonly TypedFunction[], references: References): string[] {
  const models = new Map<string, Set<string>>();
  for (const { returns = [], json_schema: schema } of syncs) {
    for (const model of returns) {
      const types = models.get(model) ?? new Set();
      models.set(model, types.add(references.typeAt(schema, model)));
    }
  }
  return [...models].map(([model, types]) => {
    const [type = 'unknown', ...others] = types;
    const shape =
      others.length === 0 ? type : [type, ...others].map((one) => `(${one})`).join(' | ');
    return `readonly ${quoted(model)}: ${shape};`;
  });
}

function actionText(action: TypedFunction, references: References): string {
  const { name, description, input, returns, json_schema: schema } = action;
  const [output] = returns ?? [];
  const comment = description === undefined ? '' : `/** ${commentText(description)} */ `;
  const typeOfDefinition = (definition: string | undefined): string =>
    definition === undefined ? 'unknown' : references.typeAt(schema, definition);
  return `${comment}readonly ${quoted(name)}: { readonly input: ${typeOfDefinition(input)}; readonly output: ${typeOfDefinition(output)} };`;
}

/** On one line, and not the end of the comment. */
const commentText = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll('*/', String.raw`*\/`)
    .trim();

/** The types that schemas refer to, each with a name: they may refer to themselves. */
class References {
  readonly #names = new Map<unknown, Map<string, string>>();
  readonly #types: string[] = [];
  #count = 0;

  /** The type of a definition of the document. */
  typeAt(document: unknown, definition: string): string {
    const schema = pointed(document, ['definitions', definition]);
    return schema === null ? 'unknown' : this.#typeOf(schema, document);
  }

  text(): string {
    return this.#types.map((type) => `\n${type}\n`).join('');
  }

  #typeOf(schema: JsonObject, document: unknown): string {
    return typeOf(schema, (reference) => this.#nameOf(reference, document));
  }

  /** `#/definitions/Contact/definitions/__schema0`; a reference out of the document has no type. */
  #nameOf(reference: string, document: unknown): string {
    const names = this.#names.get(document) ?? new Map<string, string>();
    this.#names.set(document, names);
    const existing = names.get(reference);
    if (existing !== undefined) return existing;
    const [first, ...path] = reference.split('/');
    const schema = first === '#' ? pointed(document, path.map(unescaped)) : null;
    if (schema === null) return 'unknown';
    this.#count += 1;
    const name = `Shape${this.#count}`;
    names.set(reference, name);
    this.#types.push(`type ${name} = ${this.#typeOf(schema, document)};`);
    return name;
  }
}

/** As JSON Pointer has it. */
const unescaped = (step: string): string =>
  decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');

function pointed(document: unknown, path: readonly string[]): JsonObject | null {
  const found = path.reduce<Json | undefined>(
    (at, step) => (isJsonObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
    document as Json,
  );
  return isJsonObject(found) ? objectOf(found) : null;
}
