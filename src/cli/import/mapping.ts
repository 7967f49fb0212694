import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { load } from 'js-yaml';
import { draft2020 } from '#json-schema/ajv.ts';
import { problemLine, problemsOf } from '#json-schema/problems.ts';
import { atPath } from '#kernel/json-path.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { CommandFailure } from '../exit.ts';
import gatewayMapping from './gateway-mapping.json' with { type: 'json' };
import schema from './mapping.schema.json' with { type: 'json' };

export const sectionNames = [
  'integrations',
  'connections',
  'syncs',
  'variables',
  'webhook_endpoints',
] as const;
export type SectionName = (typeof sectionNames)[number];

/** How a list of another gateway is read, and where each field is. Paths are dotted; empty: the value itself. */
export interface Section {
  /** In an export file; default: the name of the section. */
  readonly file?: string;
  readonly list: {
    readonly path: string;
    readonly items: string;
    readonly page?: {
      readonly parameter: string;
      readonly first: number;
      readonly size_parameter?: string;
      readonly size?: number;
    };
    readonly cursor?: { readonly parameter: string; readonly at: string };
  };
  /** Where one entry is read with all of its fields. */
  readonly item?: { readonly path: string; readonly value: string };
  readonly fields: Readonly<Record<string, string>>;
}

/** Describes the API of another gateway (`mapping.schema.json`). */
export type Mapping = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Name of a provider there: its name here. */
  readonly providers?: Readonly<Record<string, string>>;
  /** Type of credentials there: the mode here, and where its fields are. */
  readonly auth_modes?: Readonly<
    Record<string, { readonly mode?: string; readonly fields?: Readonly<Record<string, string>> }>
  >;
} & { readonly [Name in SectionName]?: Section } & {
  readonly integrations: Section;
  readonly connections: Section;
};

/** The mapping of the API that `docs/reference/http.md` describes, as text. */
export const readyMapping = (): string => JSON.stringify(gatewayMapping, null, 2);

/**
 * The mapping of the file (JSON or YAML), or the ready one.
 * @throws CommandFailure with each place that does not fit the schema
 */
export function loadMapping(root: string, file: string | undefined): Mapping {
  if (file === undefined) return gatewayMapping;
  const mapping = parsed(resolve(root, file), file);
  const validate = draft2020({ allErrors: true }).compile<Mapping>(schema);
  if (validate(mapping)) return mapping;
  const lines = problemsOf(validate.errors ?? []).map((problem) => `\n  ${problemLine(problem)}`);
  throw new CommandFailure(`The mapping ${file} is not valid:${lines.join('')}`);
}

function parsed(path: string, file: string): unknown {
  try {
    return load(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`Could not read the mapping ${file}: ${reason}`);
  }
}

/** The value at a dotted path; the value itself for an empty one. */
export const valueAt = (value: Json, path: string): Json | undefined =>
  path === '' ? value : atPath(value, path);

/** The fields that the mapping names; those that the entry does not have are left out. */
export function mappedFields(fields: Section['fields'], entry: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, path]) => {
      const found = valueAt(entry, path);
      return found === undefined || found === null ? [] : [[name, found]];
    }),
  );
}

/** The path with the values of the fields in it; null where one is missing or would change the path. */
export function filledPath(template: string, values: JsonObject): string | null {
  const missing: string[] = [];
  const path = template.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    // URLs resolve dot segments even when they are percent-encoded.
    if (['', '.', '..'].includes(text) || !text.isWellFormed()) missing.push(name);
    return encodeURIComponent(text.toWellFormed());
  });
  return missing.length === 0 ? path : null;
}
