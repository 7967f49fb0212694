import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { quoted, typeOf } from '#json-schema/typescript.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { defineCommand } from '../command.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { dependencyName } from '../dependencies.ts';
import { requireProject } from '../project.ts';
import {
  configuredIntegrations,
  inEnvironment,
  serviceHelp,
  serviceOptions,
} from '../service-command.ts';
import { compileStep } from './compile.ts';

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

/** The client that the nearest package.json installs: its own package, or the one within this package. */
function installedClient(folder: string, name: string): string {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) {
    const above = dirname(folder);
    return above === folder ? `${dependencyName}/client` : installedClient(above, name);
  }
  const { dependencies, devDependencies } = objectOf(parsed(readFileSync(manifest, 'utf8')));
  const all = { ...objectOf(dependencies), ...objectOf(devDependencies) };
  if (`${name}-client` in all) return `${name}-client`;
  return name in all ? `${name}/client` : `${dependencyName}/client`;
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

export const generateDocs = defineCommand({
  name: 'generate:docs',
  usage: '',
  summary: 'Write a page about each function',
  about: `Compiles the project and writes one Markdown file for each function, beside it or in a folder. Only the
block between <!-- svc:begin --> and <!-- svc:end --> is generated: other text is kept.`,
  options: {
    path: ['-p, --path <folder>', 'write <folder>/<integration>/<kind>s/<name>.md'],
  },
  help: `Examples
  svc generate:docs
  svc generate:docs --path docs`,

  async run({ values }, context) {
    const { root, output } = context;
    requireProject(root);
    await using sandbox = await context.openSandbox();
    const { functions } = await compileStep(context, values, sandbox);
    const folder = values.path === undefined ? root : resolve(root, values.path);
    for (const fn of functions) {
      const file = fn.entry.file.replace(/\.ts$/, '.md');
      const path = join(folder, file);
      const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
      const text = docsText(fn, before);
      if (text === before) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      output.result(`Wrote ${values.path === undefined ? file : join(values.path, file)}`);
    }
  },
});

/** The text between these marks is regenerated; the rest is the user's. */
const begin = '<!-- svc:begin -->';
const end = '<!-- svc:end -->';

/** The page with the description of the function inserted or replaced. */
function docsText(fn: CompiledFunction, before: string | null): string {
  const block = `${begin}\n${blockText(fn)}\n${end}`;
  if (before === null) return `${block}\n`;
  const from = before.indexOf(begin);
  const target = before.indexOf(end);
  if (from === -1 || target < from) return `${before.trimEnd()}\n\n${block}\n`;
  return `${before.slice(0, from)}${block}${before.slice(target + end.length)}`;
}

function blockText({ entry, definition }: CompiledFunction): string {
  const { description, version, scopes, metadata, checkpoint } = definition;
  const parts = [
    `# ${entry.name}`,
    description,
    table(
      ['', ''],
      [
        ['Integration', code(entry.integrationKey)],
        ['Kind', entry.kind],
        ['Version', version === '' ? 'none' : version],
        ...(definition.frequency === null ? [] : [['Runs', definition.frequency]]),
        ...(entry.kind === 'sync'
          ? [['Starts by itself', definition.autoStart ? 'yes' : 'no']]
          : []),
        ...(definition.event === null ? [] : [['Event', code(definition.event)]]),
        ['Scopes', scopes.length === 0 ? 'none' : scopes.map(code).join(', ')],
      ],
    ),
    ...section('Input', entry.kind === 'action' ? definition.input : null),
    ...section('Output', entry.kind === 'action' ? definition.output : null),
    ...Object.entries(definition.models).flatMap(([name, schema]) =>
      section(`Model ${name}`, schema),
    ),
    ...section('Metadata', metadata),
    ...section('Checkpoint', checkpoint),
  ];
  return parts.join('\n\n');
}

function section(title: string, schema: JsonObject | null): string[] {
  if (schema === null) return [];
  const rows = fieldRows(schema, '');
  const body = rows.length === 0 ? typeText(schema) : table(['Field', 'Type', 'Needed'], rows);
  return [`## ${title}`, body];
}

/** One row per field; fields of an object follow it with a dotted name. */
function fieldRows(schema: JsonObject, prefix: string): string[][] {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(properties).flatMap(([name, value]) => {
    const field = objectOf(value);
    const path = `${prefix}${name}`;
    const row = [code(path), typeText(field), needed.has(name) ? 'yes' : 'no'];
    return [row, ...fieldRows(field, `${path}.`)];
  });
}

function typeText(schema: JsonObject): string {
  const { type, format, items, anyOf, oneOf } = schema;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(schema['enum'])) {
    return schema['enum'].map((value: Json) => code(JSON.stringify(value))).join(', ');
  }
  if (Array.isArray(choices)) return choices.map(choiceText).join(' or ');
  if (type === 'array') return `list of ${choiceText(items ?? {})}`;
  const names = (Array.isArray(type) ? type : [type ?? 'anything']).map(String).join(' or ');
  return typeof format === 'string' ? `${names} (${format})` : names;
}

const choiceText = (schema: Json): string => (isJsonObject(schema) ? typeText(schema) : 'anything');

const code = (text: string): string => `\`${text}\``;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
