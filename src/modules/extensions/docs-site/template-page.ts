import { escapedMarkup } from '#kernel/markup.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { functionFiles, providerTemplates } from '#modules/functions/templates/templates.ts';
import { templateDefinition, type Template } from '#rules/templates.ts';
import {
  code,
  codeBlock,
  codes,
  list,
  outsideLink,
  table,
  type PageSection,
} from './provider-html.ts';

/** The templates of a provider in its page, each with a link to its own. */
export function templatesSection({ name: provider }: Provider): PageSection {
  const rows = providerTemplates(provider).map(({ name, kind, description }) => [
    `<a href="${encodeURIComponent(name)}/">${escapedMarkup(name)}</a>`,
    kind,
    escapedMarkup(description),
  ]);
  const html = table(['Template', 'Kind', 'What it does'], rows);
  return { anchor: 'templates', title: 'Templates', html };
}

const deletions = {
  every_run: 'Deletions are found in each run.',
  runs_from_start: 'Deletions are found in runs from the start, such as after a reset.',
  none: 'Deletions are not found: the API deletes nothing, or does not report it.',
} as const;

/** The line below the title. */
export function templateIntroduction(template: Template): string {
  const { kind, version, description, sync, documentation } = template;
  const { runs, event, autoStart } = templateDefinition(template);
  const start =
    autoStart === true ? 'starts with each connection' : 'is started by your application';
  return `<p>${escapedMarkup(description)}.</p>
${list([
  `Kind: ${kind}, version ${escapedMarkup(version)}`,
  runs === undefined ? null : `It runs ${escapedMarkup(runs)}, and ${start}.`,
  event === undefined ? null : `It runs at ${code(event)}.`,
  sync === null
    ? null
    : sync.isIncremental
      ? 'A run asks for changes since the last one alone.'
      : 'Each run asks for everything, and saves what has changed.',
  sync === null ? null : deletions[sync.deletions],
  ...documentation.map((address) => outsideLink(address, address.replace('https://', ''))),
])}`;
}

/** What a template saves and needs, and its code. */
export function templateSections(template: Template): readonly PageSection[] {
  const { provider, name, scopes, kind } = template;
  const { metadata, returns = [], input, jsonSchema = {} } = templateDefinition(template);
  const shown = (model: string | undefined): string =>
    model === undefined ? '' : fieldTable(jsonSchema, model);
  const models = returns.map(
    (model) => `<h3 id="model-${model}">${code(model)}</h3>${shown(model)}`,
  );
  return [
    {
      anchor: 'add',
      title: 'Add it',
      html: `${codeBlock('sh', `npx svc add ${provider}/${name}`)}
<p>It copies the function with its test into your project (<a href="../../../reference/cli/#templates-of-a-project">how</a>).
Without a project, the page of the integration in the console deploys it.</p>`,
    },
    { anchor: 'models', title: 'Saves', html: kind === 'sync' ? models.join('\n') : '' },
    { anchor: 'input', title: 'Input', html: shown(input) },
    {
      anchor: 'output',
      title: 'Output',
      html: kind === 'action' ? returns.map(shown).join('') : '',
    },
    {
      anchor: 'scopes',
      title: 'Scopes',
      html: scopes.length === 0 ? '' : `<p>At the provider: ${codes(scopes)}.</p>`,
    },
    {
      anchor: 'metadata',
      title: 'Metadata',
      html: metadata === null ? '' : `<p>Each connection needs:</p>${fieldTable({}, metadata)}`,
    },
    { anchor: 'code', title: 'Code', html: codeOf(template) },
  ].filter(({ html }) => html !== '');
}

const codeOf = (template: Template): string =>
  functionFiles(template)
    .map(
      ({ path, text }, at) =>
        `<h3 id="file-${at + 1}">${code(path)}</h3>${codeBlock('ts', text.trimEnd())}`,
    )
    .join('\n');

/** Fields of a model of `definitions`, or of a schema. */
function fieldTable(schemas: JsonObject, model: string | JsonObject): string {
  const definitions = schemas['definitions'];
  const schema =
    typeof model === 'string' ? isJsonObject(definitions) && definitions[model] : model;
  if (!isJsonObject(schema)) return '';
  const rows = fieldsOf(schema).map(({ path, type, isOptional }) => [
    code(path),
    `${escapedMarkup(type)}${isOptional ? ', optional' : ''}`,
  ]);
  return rows.length === 0
    ? `<p>${escapedMarkup(typeOf(schema))}</p>`
    : table(['Field', 'Type'], rows);
}

interface Field {
  /** `address.city`, `lines[].amount` */
  readonly path: string;
  readonly type: string;
  readonly isOptional: boolean;
}

/** The fields of an object and of those in it. */
function fieldsOf(schema: Json | undefined, prefix = ''): readonly Field[] {
  const object = objectIn(schema);
  if (object === null) return [];
  const { properties, required } = object.schema;
  if (!isJsonObject(properties)) return [];
  const path = prefix === '' ? '' : `${prefix}${object.isList ? '[]' : ''}.`;
  return Object.entries(properties).flatMap(([name, value]) => [
    {
      path: `${path}${name}`,
      type: typeOf(value),
      isOptional: !(Array.isArray(required) && required.includes(name)),
    },
    ...fieldsOf(value, `${path}${name}`),
  ]);
}

/** The schema of an object, also where null or a list is around it. */
function objectIn(
  schema: Json | undefined,
  isList = false,
): { readonly schema: JsonObject; readonly isList: boolean } | null {
  if (!isJsonObject(schema)) return null;
  if (isJsonObject(schema['properties'])) return { schema, isList };
  if (schema['items'] !== undefined) return objectIn(schema['items'], true);
  for (const choice of choicesOf(schema)) {
    const found = objectIn(choice, isList);
    if (found !== null) return found;
  }
  return null;
}

function choicesOf({ anyOf, oneOf }: JsonObject): readonly Json[] {
  const choices = anyOf ?? oneOf;
  return Array.isArray(choices) ? (choices as readonly Json[]) : [];
}

/** `string or null`, `list of string`, `"open" or "closed"` */
function typeOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return 'any';
  const { type, enum: values, const: constant, items, format } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  const choices = choicesOf(schema);
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${typeOf(items)}`;
  const types = Array.isArray(type) ? type : [type];
  const names = types.filter((name) => typeof name === 'string');
  return names.length === 0
    ? 'any'
    : names.join(' or ') + (typeof format === 'string' ? ` (${format})` : '');
}
