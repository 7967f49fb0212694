import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { linearTest } from './linear-pattern.ts';

/** Maps of name to schema. */
const schemaMaps = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependentSchemas',
  'dependencies',
]);
/** Data, not schemas. */
const dataKeywords = new Set(['enum', 'const', 'default', 'examples', 'required']);
/** What names another document, or makes a validator answer with a promise. */
const dropped = new Set(['$schema', '$id', '$async']);

/**
 * The schema without what may not run here: a pattern without a linear test says nothing, and neither does
 * `additionalProperties` beside such a one in `patternProperties`. Null above `levelsMax`.
 */
export function withLinearPatterns(schema: JsonObject, levelsMax: number): JsonObject | null {
  const result = boundedSchema(schema, levelsMax);
  return isJsonObject(result) ? result : null;
}

function boundedSchema(schema: Json, levels: number): Json | undefined {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (levels === 0) return undefined;
  if (Array.isArray(schema)) {
    const items = schema.map((item: Json) => boundedSchema(item, levels - 1));
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  if (!isJsonObject(schema)) return undefined;
  const isOpen = Object.keys(objectOf(schema['patternProperties'])).some(isUnknown);
  const entries: [string, Json][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (dropped.has(keyword)) continue;
    if (keyword === 'pattern' && isUnknown(value)) continue;
    if (isOpen && (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')) {
      continue;
    }
    const bounded = dataKeywords.has(keyword)
      ? value
      : schemaMaps.has(keyword) && isJsonObject(value)
        ? boundedMap(value, keyword === 'patternProperties', levels - 1)
        : boundedSchema(value, levels - 1);
    if (bounded === undefined) return undefined;
    entries.push([keyword, bounded]);
  }
  return Object.fromEntries(entries);
}

function boundedMap(map: JsonObject, isByPattern: boolean, levels: number): Json | undefined {
  if (levels === 0) return undefined;
  const entries: [string, Json][] = [];
  for (const [name, value] of Object.entries(map)) {
    if (isByPattern && isUnknown(name)) continue;
    const bounded = boundedSchema(value, levels - 1);
    if (bounded === undefined) return undefined;
    entries.push([name, bounded]);
  }
  return Object.fromEntries(entries);
}

const isUnknown = (pattern: Json): boolean =>
  typeof pattern === 'string' && linearTest(pattern) === null;
