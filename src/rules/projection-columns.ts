import { createHash } from 'node:crypto';
import { isJsonObject, stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { ProjectionDefinition } from '#ports/sandbox.ts';

/** A column of a projection of a project: a field of `row`. */
export interface ProjectionColumn {
  readonly name: string;
  /** Its type in ClickHouse. */
  readonly type: string;
}

export const projectionNamePattern = /^[a-z][a-z0-9_]{0,59}$/;

/** Why it cannot be the name of a projection; its view has this name. */
export function projectionNameProblem(name: string): string | null {
  if (!projectionNamePattern.test(name)) {
    return 'use a small letter, then small letters, digits and _';
  }
  return name.startsWith('v_') ? 'the views of the service begin with v_' : null;
}

const columnName = /^[A-Za-z][A-Za-z0-9_]{0,59}$/;
const columnsMax = 200;
const supported =
  'use strings, numbers, booleans, dates, enums of strings, or lists of strings, numbers or booleans';

/** The columns, and what keeps the row from being one of a table; `at` is the option of the definition. */
export function columnsOf({ row, key, models, integrations, hasMap }: ProjectionDefinition): {
  readonly columns: readonly ProjectionColumn[];
  readonly problems: readonly { readonly at: string; readonly message: string }[];
} {
  const problems: { readonly at: string; readonly message: string }[] = [];
  const refuse = (at: string, message: string): void => void problems.push({ at, message });
  if (!hasMap) refuse('map', 'map should be a function');
  if (models.length === 0) refuse('from', 'from.models should name a model');
  if (integrations?.length === 0) {
    refuse('from', 'from.integrations names no integration: leave it out for all');
  }
  const properties =
    row['type'] === 'object' && isJsonObject(row['properties']) ? row['properties'] : {};
  const required = new Set<Json>(Array.isArray(row['required']) ? row['required'] : []);
  const fields = Object.entries(properties);
  if (fields.length === 0) refuse('row', 'row should be a z.object() with a field for each column');
  if (fields.length > columnsMax) {
    refuse('row', `row has ${fields.length} columns: ${columnsMax} are allowed`);
  }
  const columns = fields.flatMap(([name, schema]): ProjectionColumn[] => {
    if (!columnName.test(name)) {
      refuse('row', `"${name}" cannot be a column: use a letter, then letters, digits and _`);
      return [];
    }
    const type = typeOf(schema, required.has(name));
    if (type !== null) return [{ name, type }];
    refuse('row', `The column "${name}" has no type of a table: ${supported}`);
    return [];
  });
  const known = new Set(Object.keys(properties));
  for (const name of key) {
    if (!known.has(name)) refuse('key', `key names "${name}", which is no column of row`);
  }
  return { columns, problems };
}

function typeOf(schema: Json, isRequired: boolean): string | null {
  const { inner, isNullable } = withoutNull(schema);
  const plain = plainTypeOf(inner);
  if (plain !== null) return isNullable || !isRequired ? `Nullable(${plain})` : plain;
  if (!isJsonObject(inner) || inner['type'] !== 'array' || isNullable) return null;
  const item = plainTypeOf(inner['items'] ?? null);
  return item === null || item.startsWith('Date') ? null : `Array(${item})`;
}

/** What a nullable schema is without null, in the ways that zod writes it. */
function withoutNull(schema: Json): { readonly inner: Json; readonly isNullable: boolean } {
  if (!isJsonObject(schema)) return { inner: schema, isNullable: false };
  const { anyOf, type } = schema;
  if (Array.isArray(type) && type.length === 2 && type.includes('null')) {
    const [other = null] = (type as Json[]).filter((one) => one !== 'null');
    return { inner: { ...schema, type: other }, isNullable: true };
  }
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return { inner: schema, isNullable: false };
  const choices = anyOf as Json[];
  const [first] = choices.filter((one) => !isJsonObject(one) || one['type'] !== 'null');
  const isNullable = choices.some((one) => isJsonObject(one) && one['type'] === 'null');
  return isNullable && first !== undefined
    ? { inner: first, isNullable }
    : { inner: schema, isNullable: false };
}

function plainTypeOf(schema: Json): string | null {
  if (!isJsonObject(schema)) return null;
  const { type, format, enum: values, const: value } = schema;
  const texts = Array.isArray(values) ? values : value === undefined ? [] : [value];
  if (texts.length > 0) return texts.every((one) => typeof one === 'string') ? 'String' : null;
  switch (type) {
    case 'string':
      if (format === 'date-time') return "DateTime64(6, 'UTC')";
      return format === 'date' ? 'Date32' : 'String';
    case 'integer':
      return 'Int64';
    case 'number':
      return 'Float64';
    case 'boolean':
      return 'Bool';
    default:
      return null;
  }
}

/** A projection as the command line compiles and deploys it. */
export interface DeployedDefinition {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly models: readonly string[];
  readonly integrations: readonly string[] | null;
  readonly row: JsonObject;
  readonly key: readonly string[];
  /** Without its source map. */
  readonly bundle: string;
  readonly source: string;
}

/** SHA-256 of what is deployed: the same content changes nothing. */
export function projectionHash(definition: DeployedDefinition): string {
  const { name, version, description, models, integrations, row, key, bundle, source } = definition;
  const content = {
    ...{ name, version, description, models: [...models], row, key: [...key], bundle, source },
    integrations: integrations === null ? null : [...integrations],
  };
  return createHash('sha256').update(stableJson(content)).digest('hex');
}
