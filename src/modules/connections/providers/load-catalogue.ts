import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load as parseYaml } from 'js-yaml';
import { z } from 'zod';
import { draft2020 } from '#json-schema/ajv.ts';
import { problemLine, problemsOf, type Problem } from '#json-schema/problems.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { isKnownToken, tokensOf } from '#rules/interpolate.ts';
import type { ProviderCatalogue } from './catalogue.ts';
import type { Provider } from './definition.ts';
import { patternOf } from './pattern.ts';
import { definitionSchema, type Definition } from './schema.ts';

/**
 * Rules between fields (docs/reference/provider-format.md#templates): every template can be filled, and the mode has
 * the fields that it needs.
 * @returns `field: problem` of each mistake
 */
export function definitionProblems(definition: Definition): string[] {
  const { proxy } = definition;
  const problems = templatesOf(definition).flatMap(([field, template]) => {
    const tokens = tokensOf(template);
    const unset = tokens.filter((token) => !isSupplied(token, definition));
    const unknown = field.startsWith('proxy.')
      ? tokens.filter((token) => !isKnownToken(token))
      : [];
    const missing = tokens.filter((token) => !isGiven(field, token, definition));
    return [
      ...missing.map((token) => `${field}: \${${token}} is not in credentials`),
      ...unset.map((token) => `${field}: \${${token}} is not in connection_config`),
      ...unknown.map((token) => `${field}: \${${token}} is not a known token`),
    ];
  });
  if (definition.auth_mode === 'AWS_SIGV4' && definition.aws_signature === undefined) {
    problems.push('aws_signature: required by the mode AWS_SIGV4');
  }
  if (definition.auth_mode === 'API_KEY' && !definition.credentials?.['apiKey']) {
    problems.push('credentials.apiKey: required by the mode API_KEY');
  }
  // In other modes not every callback is an authorization response (RFC 9207).
  if (definition.authorization_issuer !== undefined && definition.auth_mode !== 'OAUTH2') {
    problems.push('authorization_issuer: only allowed in the mode OAUTH2');
  }
  if (proxy?.verification && definition.credentials_verification_script) {
    problems.push('proxy.verification: cannot be combined with credentials_verification_script');
  }
  for (const field of scriptFields) {
    const name = definition[field];
    const isKnown = field === 'post_connection_script' && entryOfScript.has(name ?? '');
    if (name !== undefined && !isKnown) problems.push(`${field}: unknown script "${name}"`);
  }
  for (const group of ['connection_config', 'credentials', 'integration_config'] as const) {
    for (const [name, field] of Object.entries(definition[group] ?? {})) {
      const { pattern, enum: choices, enum_titles: titles } = field;
      if (pattern !== undefined && !isPattern(pattern)) {
        problems.push(`${group}.${name}.pattern: not a regular expression`);
      }
      const unknown = Object.keys(titles ?? {}).filter(
        (value) => choices?.includes(value) !== true,
      );
      problems.push(
        ...unknown.map((value) => `${group}.${name}.enum_titles: "${value}" is not in enum`),
      );
    }
  }
  return problems;
}

/** The entry whose `connection_lookup` an earlier name of a script stands for. */
export const entryOfScript: ReadonlyMap<string, string> = new Map([
  ['atlassianCloudId', 'jira'],
  ['docusignAccount', 'docusign'],
  ['githubHandle', 'github-app-oauth'],
  ['gmailAddress', 'gmail'],
  ['mailchimpDataCentre', 'mailchimp'],
  ['xeroTenant', 'xero'],
]);

export const scriptFields = [
  'post_connection_script',
  'credentials_verification_script',
  'pre_connection_creation_script',
  'pre_connection_deletion_script',
] as const;

/** Token calls have only the values that the person entered. */
const ofTokenCalls = /^(?:token|token_url|token_params|token_headers|additional_steps)(?:\.|$)/;
const ownFieldModes = new Set<string>(['JWT', 'TWO_STEP']);

function isGiven(field: string, token: string, { auth_mode: mode, credentials = {} }: Definition) {
  const name = /^credentials\.(.+)$/.exec(token)?.[1];
  if (name === undefined || !ownFieldModes.has(mode) || !ofTokenCalls.test(field)) return true;
  return Object.hasOwn(credentials, name);
}

function isSupplied(token: string, definition: Definition): boolean {
  if (!token.startsWith('connectionConfig.')) return true;
  const name = token.slice('connectionConfig.'.length);
  const supplied = [
    ...Object.keys(definition.connection_config ?? {}),
    ...Object.keys(definition.proxy?.connection_config ?? {}),
    ...(definition.connection_configuration ?? []),
    ...(definition.token_response_metadata ?? []),
    ...(definition.redirect_uri_metadata ?? []),
    ...(definition.connection_lookup ?? []).flatMap((step) => Object.keys(step.connection_config)),
  ];
  return supplied.includes(name);
}

/** Schemas of fields: their texts are for people, not templates. */
const fieldGroups = new Set([
  'connection_config',
  'credentials',
  'integration_config',
  'assertion_option',
]);

/** Every text of the definition that may be a template, with its field. */
function templatesOf(definition: Definition): [string, string][] {
  const fields = Object.entries(definition).filter(([name]) => !fieldGroups.has(name));
  return fields.flatMap(([name, value]) => textsOf(name, value));
}

function textsOf(field: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[field, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    textsOf(Array.isArray(value) ? field : `${field}.${name}`, inner),
  );
}

function isPattern(source: string): boolean {
  try {
    patternOf(source);
    return true;
  } catch {
    return false;
  }
}

const builtInFolder = fileURLToPath(new URL('catalogue', import.meta.url));
/** The build has the built-in definitions in one file, parsed and checked: a start spends no time on that. */
export const builtInFile = 'catalogue.json';
const extensions = new Set(['.yaml', '.yml', '.json']);

interface Entry {
  readonly name: string;
  readonly file: string;
  readonly fields: Record<string, Json>;
  /** Fits the schema, and so does the target of its alias. */
  readonly isValid: boolean;
  /** Parsed and checked by the build. */
  readonly isParsed: boolean;
}

/**
 * The built-in definitions (a test validates them) with the operator's overlay: an entry of the overlay replaces the
 * built-in one of its name, and may be an alias of one.
 * @param overlayPath a folder or a file, YAML or JSON; null = none.
 * @throws CannotStart with every mistake, one per line: file, provider, field, and what is expected
 */
export function loadCatalogue({ overlayPath }: { overlayPath: string | null }): ProviderCatalogue {
  const problems: string[] = [];
  const builtIn = builtInEntries(problems);
  const entries = [...builtIn];
  if (overlayPath !== null) {
    const validate = overlayValidator();
    const files = filesOf(overlayPath, problems);
    const overlay = files.flatMap((file) => readEntries(file, problems, validate));
    entries.push(...overlay.map((entry) => withLookupOfScript(entry, builtIn)));
  }
  const resolved = new Map<string, Entry>();
  for (const entry of entries) {
    const whole = resolveAlias(entry, resolved, problems);
    if (whole) resolved.set(entry.name, whole);
  }
  const providers = [...resolved.values()]
    .flatMap((entry) => define(entry, problems))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  problems.push(...sharedAliases(providers));
  if (problems.length > 0) {
    const what = overlayPath === null ? 'The catalogue' : 'SVC_PROVIDERS';
    throw new CannotStart(
      `${what} cannot be used:\n  ${problems.join('\n').replaceAll('\n', '\n  ')}`,
    );
  }

  const byName = new Map([
    ...providers.flatMap((one) => (one.aliases ?? []).map((name) => [name, one] as const)),
    ...providers.map((one) => [one.name, one] as const),
  ]);
  return { find: (name) => byName.get(name) ?? null, all: () => providers };
}

function builtInEntries(problems: string[]): Entry[] {
  const built = join(dirname(builtInFolder), builtInFile);
  if (existsSync(built)) {
    const content = JSON.parse(readFileSync(built, 'utf8')) as Record<string, Entry['fields']>;
    const shared = { file: builtInFile, isValid: true, isParsed: true };
    return Object.entries(content).map(([name, fields]) => ({ name, fields, ...shared }));
  }
  return filesOf(builtInFolder, problems).flatMap((file) => readEntries(file, problems));
}

/** The text of the file of the build: what the sources of the catalog define, by name. */
export function builtInText(): string {
  const providers = loadCatalogue({ overlayPath: null }).all();
  return JSON.stringify(Object.fromEntries(providers.map(({ name, ...rest }) => [name, rest])));
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
  let content: Json;
  try {
    // JSON is YAML too, which allows more, such as comments.
    content = (parseYaml(readFileSync(file, 'utf8')) ?? null) as Json;
  } catch (error) {
    problems.push(`${shown}: ${(error as Error).message}`);
    return [];
  }
  const found = validate?.(content) ?? [];
  problems.push(...found.map((problem) => `${shown}: ${problemLine(problem)}`));
  return Object.entries(isJsonObject(content) ? content : {}).flatMap(([name, definition]) => {
    if (name === '$schema' || !isJsonObject(definition)) return [];
    const isValid = !found.some(({ path }) => path === name || path.startsWith(`${name}.`));
    return [{ name, file: shown, fields: definition, isValid, isParsed: false }];
  });
}

/** With the steps that the name of a script stands for, in an overlay that was written before there were steps. */
function withLookupOfScript(entry: Entry, builtIn: readonly Entry[]): Entry {
  const { post_connection_script: script, connection_lookup: own } = entry.fields;
  const name = own === undefined && typeof script === 'string' ? entryOfScript.get(script) : null;
  const steps = builtIn.find((other) => other.name === name)?.fields['connection_lookup'];
  if (steps === undefined) return entry;
  return { ...entry, fields: { ...entry.fields, connection_lookup: steps } };
}

/** Shallow: the target's fields, then the entry's own (docs/reference/provider-format.md#catalog-and-overlays). */
function resolveAlias(
  entry: Entry,
  before: ReadonlyMap<string, Entry>,
  problems: string[],
): Entry | null {
  const { alias, ...own } = entry.fields;
  if (alias === undefined) return entry;
  const named = typeof alias === 'string' ? alias : '';
  const target = before.get(named) ?? [...before.values()].find((one) => hasAlias(one, named));
  if (!target) {
    problems.push(
      `${entry.file}: ${entry.name}.alias: no provider of this name is defined before it`,
    );
    return null;
  }
  // Its other names stay with the target, unless the entry stands in its place.
  const { aliases: _others, ...ofTarget } = target.fields;
  const inheritable = entry.name === target.name ? target.fields : ofTarget;
  return {
    ...entry,
    fields: { ...inheritable, ...own },
    isValid: entry.isValid && target.isValid,
    isParsed: false,
  };
}

function hasAlias({ fields: { aliases } }: Entry, name: string): boolean {
  return Array.isArray(aliases) && aliases.includes(name);
}

/** Aliases that several entries have. */
function sharedAliases(providers: readonly Provider[]): string[] {
  const owners = new Map<string, string>();
  return providers.flatMap(({ name, aliases = [] }) =>
    aliases.flatMap((alias) => {
      const other = owners.get(alias);
      owners.set(alias, name);
      return other === undefined ? [] : [`${name}.aliases: "${alias}" is an alias of ${other} too`];
    }),
  );
}

function define(entry: Entry, problems: string[]): Provider[] {
  const { name, file, fields, isValid, isParsed } = entry;
  if (isParsed) return [{ name, ...fields } as unknown as Provider];
  if (!isValid) return [];
  const definition = definitionSchema.parse(fields);
  const found = definitionProblems(definition);
  problems.push(...found.map((problem) => `${file}: ${name}.${problem}`));
  // The schema's output has no undefined values; its type cannot say so.
  return [{ name, ...definition } as Provider];
}

/**
 * JSON Schema (2020-12) of a file that `SVC_PROVIDERS` names: definitions by name, of which an alias may leave out what
 * its target has.
 */
export function overlaySchema(): Record<string, unknown> {
  const { $schema, $defs, properties, required, ...definition } = z.toJSONSchema(definitionSchema, {
    io: 'input',
    unrepresentable: 'any',
  });
  const alias = {
    type: 'string',
    description: 'A provider defined earlier, whose top-level fields these replace.',
  };
  return {
    $schema,
    title: 'Provider definitions',
    description: 'A map of provider name to definition.',
    type: 'object',
    properties: {
      $schema: {
        type: 'string',
        description: 'The JSON Schema of this file, for editors. It is not a provider.',
      },
    },
    propertyNames: {
      pattern: String.raw`^([a-z0-9-]{1,255}|\$schema)$`,
      description: 'a-z, 0-9 and -, at most 255 characters',
    },
    additionalProperties: { $ref: '#/$defs/definition' },
    $defs: {
      definition: {
        ...definition,
        properties: { alias, ...properties },
        if: { required: ['alias'] },
        else: { required },
      },
      ...$defs,
    },
  };
}

/** Every mistake in the content of a file; the path begins with the name of the provider. */
type OverlayValidator = (content: Json) => Problem[];

export function overlayValidator(): OverlayValidator {
  const ajv = draft2020({ allErrors: true, validateSchema: false });
  const validate = ajv.compile(overlaySchema());
  return (content) => (validate(content) ? [] : problemsOf(validate.errors ?? []));
}
