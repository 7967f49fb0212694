import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { defineCommand } from '../command.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import { requireProject } from '../project.ts';
import { compileStep } from './compile.ts';

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
