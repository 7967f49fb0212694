import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { importedFiles } from './imported-files.ts';

type FunctionKind = 'sync' | 'action' | 'on-event';

/** A function of the box that can be added to a project (templates/README.md). */
export interface Template {
  readonly provider: string;
  readonly kind: FunctionKind;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly scopes: readonly string[];
  /** Whether connections need metadata. */
  readonly needsMetadata: boolean;
  /** Pages of the provider's documentation. */
  readonly documentation: readonly string[];
  /** Null for other kinds. */
  readonly sync: TemplateSync | null;
  /** The file of the function, below the folder of templates. */
  readonly file: string;
  /** All files, that of the function first: what it imports, fixtures, test. */
  readonly files: readonly TemplateFile[];
}

/** What a sync asks for in each run. */
export interface TemplateSync {
  /** Whether a run asks for changes alone. */
  readonly isIncremental: boolean;
  /** Which runs find deleted documents. */
  readonly deletions: 'every_run' | 'runs_from_start' | 'none';
}

/** What the definition of a template says (bin/template-definitions.ts). */
export interface TemplateDefinition extends Pick<Template, 'description' | 'version' | 'scopes'> {
  /** JSON Schema of the metadata of a connection; null: none is needed. */
  readonly metadata: JsonObject | null;
  /** Models of the records or of the output. */
  readonly returns?: readonly string[];
  /** The models and those of input and output, below `definitions`. */
  readonly jsonSchema?: JsonObject;
  /** Of an action. */
  readonly input?: string;
  /** Of a sync. */
  readonly runs?: string;
  readonly autoStart?: boolean;
  /** Of an on-event function. */
  readonly event?: string;
}

export interface TemplateFile {
  /** Below the folder of templates, which is laid out as a project is. */
  readonly path: string;
  readonly text: string;
  readonly sha256: string;
}

/** The build has a copy at the same path. */
export const templatesFolder = fileURLToPath(new URL('../../templates', import.meta.url));

const kindFolders: Readonly<Record<FunctionKind, string>> = {
  sync: 'syncs',
  action: 'actions',
  'on-event': 'on-events',
};

/** Folders of shared files, which are no providers. */
const sharedFolders: ReadonlySet<string> = new Set(['models', 'shared']);

/** The providers with templates. */
export const templateProviders = (folder = templatesFolder): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !sharedFolders.has(entry.name))
        .map(({ name }) => name)
        .sort()
    : [];

/** The templates of a provider: syncs, actions, on-event functions, by name. */
export function templatesOf(provider: string, folder = templatesFolder): readonly Template[] {
  if (!templateProviders(folder).includes(provider)) return [];
  return (Object.keys(kindFolders) as FunctionKind[]).flatMap((kind) => {
    const functions = join(folder, provider, kindFolders[kind]);
    if (!existsSync(functions)) return [];
    return readdirSync(functions)
      .filter((file) => file.endsWith('.ts'))
      .sort()
      .map((file) => readTemplate(folder, { provider, kind, name: basename(file, '.ts') }));
  });
}

/** Beside this file in the build, which a service from sources reads too: they are made by running the templates. */
let definitions: Readonly<Record<string, TemplateDefinition>> | undefined;

/** Of a template of the box; read at the first use. */
export function templateDefinition(template: Template): TemplateDefinition {
  definitions ??= JSON.parse(
    readFileSync(
      new URL(import.meta.resolve('#built/src/rules/template-definitions.json')),
      'utf8',
    ),
  ) as Readonly<Record<string, TemplateDefinition>>;
  return definitions[template.file] ?? { ...template, metadata: null };
}

function readTemplate(
  folder: string,
  { provider, kind, name }: Pick<Template, 'provider' | 'kind' | 'name'>,
): Template {
  const file = `${provider}/${kindFolders[kind]}/${name}.ts`;
  const text = readFileSync(join(folder, file), 'utf8');
  const fixture = `${provider}/fixtures/${name}.json`;
  const { documentation = [], uses = [], sync = null } = fixtureAt(folder, fixture);
  const paths = [
    ...importedFiles(folder, file).keys(),
    fixture,
    ...uses.map((used) => `${provider}/fixtures/${used}.json`),
    `${provider}/tests/${name}.test.ts`,
  ];
  return {
    provider,
    kind,
    name,
    description: literalOf(text, 'description') ?? '',
    version: literalOf(text, 'version') ?? '1.0.0',
    scopes: scopesOf(text),
    needsMetadata: /^ {2}metadata:/m.test(text),
    documentation,
    sync: kind === 'sync' ? sync : null,
    file,
    files: [...new Set(paths)]
      .filter((path) => existsSync(join(folder, path)))
      .map((path) => fileAt(folder, path)),
  };
}

function fileAt(folder: string, path: string): TemplateFile {
  const text = readFileSync(join(folder, path), 'utf8');
  return { path, text, sha256: sha256(text) };
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface FixtureFacts {
  readonly documentation?: readonly string[];
  /** Further fixtures of the provider. */
  readonly uses?: readonly string[];
  readonly sync?: TemplateSync;
}

function fixtureAt(folder: string, path: string): FixtureFacts {
  if (!existsSync(join(folder, path))) return {};
  const content = JSON.parse(readFileSync(join(folder, path), 'utf8')) as Json;
  if (!isJsonObject(content)) return {};
  const textsAt = (name: string): readonly string[] => {
    const value = content[name];
    return Array.isArray(value) ? value.filter((one: Json) => typeof one === 'string') : [];
  };
  return { documentation: textsAt('documentation'), uses: textsAt('uses'), sync: syncOf(content) };
}

/** By the way in which the API lists (templates/README.md). */
function syncOf({ lists, deletes }: JsonObject): TemplateSync {
  const isIncremental = (Array.isArray(lists) ? lists : []).some(listsChanges);
  const { type = 'none', needs_reset: needsReset = false } = isJsonObject(deletes) ? deletes : {};
  if (type === 'none') return { isIncremental, deletions: 'none' };
  return { isIncremental, deletions: needsReset === true ? 'runs_from_start' : 'every_run' };
}

/** By a filter by time, a token, entries of changes, the order of changes, or a cursor of the last page that goes on. */
function listsChanges(list: Json): boolean {
  if (!isJsonObject(list)) return false;
  const { pagination } = list;
  if (isJsonObject(pagination) && pagination['is_continued'] === true) return true;
  return ['filter', 'delta', 'entry', 'changed'].some((name) => name in list);
}

/** The text of a property of the definition: a literal, as lint demands of templates. */
function literalOf(text: string, property: 'description' | 'version'): string | undefined {
  const pattern =
    property === 'description'
      ? /^ {2}description:\s*(?:'([^'\n]*)'|"([^"\n]*)")/m
      : /^ {2}version:\s*(?:'([^'\n]*)'|"([^"\n]*)")/m;
  const match = pattern.exec(text);
  return match?.[1] ?? match?.[2];
}

function scopesOf(text: string): readonly string[] {
  const list = /^ {2}scopes:\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/'([^']*)'/g)].map(([, scope = '']) => scope);
}
