import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load as parseYaml } from 'js-yaml';
import { problemLine } from '#json-schema/problems.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { ProviderCatalogue } from './catalogue.ts';
import { definitionProblems } from './check.ts';
import type { Provider } from './definition.ts';
import { overlayValidator, type OverlayValidator } from './overlay-schema.ts';
import { definitionSchema } from './schema.ts';

const builtInFolder = fileURLToPath(new URL('catalogue', import.meta.url));
const extensions = new Set(['.yaml', '.yml', '.json']);

interface Entry {
  readonly name: string;
  readonly file: string;
  readonly fields: Record<string, Json>;
  /** Fits the schema, and so does the target of its alias. */
  readonly isValid: boolean;
}

/**
 * The built-in definitions (a test validates them) with the operator's overlay: an entry of the overlay replaces the
 * built-in one of its name, and may be an alias of one.
 * @param overlayPath a folder or a file, YAML or JSON; null = none.
 * @throws CannotStart with every mistake, one per line: file, provider, field, and what is expected
 */
export function loadCatalogue({ overlayPath }: { overlayPath: string | null }): ProviderCatalogue {
  const problems: string[] = [];
  const entries = filesOf(builtInFolder, problems).flatMap((file) => readEntries(file, problems));
  if (overlayPath !== null) {
    const validate = overlayValidator();
    const files = filesOf(overlayPath, problems);
    entries.push(...files.flatMap((file) => readEntries(file, problems, validate)));
  }
  const resolved = new Map<string, Entry>();
  for (const entry of entries) {
    const whole = resolveAlias(entry, resolved, problems);
    if (whole) resolved.set(entry.name, whole);
  }
  const providers = [...resolved.values()]
    .flatMap((entry) => define(entry, problems))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (problems.length > 0) {
    const what = overlayPath === null ? 'The catalogue' : 'SVC_PROVIDERS';
    throw new CannotStart(
      `${what} cannot be used:\n  ${problems.join('\n').replaceAll('\n', '\n  ')}`,
    );
  }

  const byName = new Map(providers.map((provider) => [provider.name, provider]));
  return { find: (name) => byName.get(name) ?? null, all: () => providers };
}

function filesOf(path: string, problems: string[]): string[] {
  let isFolder: boolean;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    problems.push(`${path}: no such file or folder`);
    return [];
  }
  if (!isFolder) return [path];
  return readdirSync(path)
    .filter((name) => extensions.has(extname(name)))
    .sort()
    .map((name) => join(path, name));
}

function readEntries(file: string, problems: string[], validate?: OverlayValidator): Entry[] {
  const shown = basename(file);
  // The build has the catalog as JSON. That of an overlay is read as YAML, which allows more, such as comments.
  const isJson = extname(file) === '.json' && validate === undefined;
  const parse = (text: string) => (isJson ? JSON.parse(text) : (parseYaml(text) ?? null)) as Json;
  let content: Json;
  try {
    content = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    problems.push(`${shown}: ${(error as Error).message}`);
    return [];
  }
  const found = validate?.(content) ?? [];
  problems.push(...found.map((problem) => `${shown}: ${problemLine(problem)}`));
  return Object.entries(isJsonObject(content) ? content : {}).flatMap(([name, definition]) => {
    if (name === '$schema' || !isJsonObject(definition)) return [];
    const isValid = !found.some(({ path }) => path === name || path.startsWith(`${name}.`));
    return [{ name, file: shown, fields: definition, isValid }];
  });
}

/** Shallow: the target's fields, then the entry's own (docs/reference/provider-format.md#catalog-and-overlays). */
function resolveAlias(
  entry: Entry,
  before: ReadonlyMap<string, Entry>,
  problems: string[],
): Entry | null {
  const { alias, ...own } = entry.fields;
  if (alias === undefined) return entry;
  const target = typeof alias === 'string' ? before.get(alias) : undefined;
  if (!target) {
    problems.push(
      `${entry.file}: ${entry.name}.alias: no provider of this name is defined before it`,
    );
    return null;
  }
  return {
    ...entry,
    fields: { ...target.fields, ...own },
    isValid: entry.isValid && target.isValid,
  };
}

function define({ name, file, fields, isValid }: Entry, problems: string[]): Provider[] {
  if (!isValid) return [];
  const definition = definitionSchema.parse(fields);
  const found = definitionProblems(definition);
  problems.push(...found.map((problem) => `${file}: ${name}.${problem}`));
  // The schema's output has no undefined values; its type cannot say so.
  return [{ name, ...definition } as Provider];
}
