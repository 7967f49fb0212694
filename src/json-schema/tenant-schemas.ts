import { createHash } from 'node:crypto';
import { createContext, Script } from 'node:vm';
import type { ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { limits } from '#kernel/limits.ts';
import { type Json, type JsonObject, isJsonObject, objectOf } from '#kernel/stable-json.ts';
import { draft7 } from './ajv.ts';
import { problemsOf, type Problem } from './problems.ts';

const compiledMax = 200;

/**
 * Values against schemas that tenants deployed. A schema is compiled once for its content. One that is too large, too
 * deep, takes too long or does not compile checks nothing (docs/reference/functions.md#schemas-outside-the-function).
 */
export class TenantSchemas {
  readonly #compiled = new LRUCache<string, ValidateFunction | 'unchecked'>({ max: compiledMax });

  /** The first thing that does not fit; empty when the value fits, or the schema checks nothing. */
  problems(schema: JsonObject, value: Json): readonly Problem[] {
    const text = JSON.stringify(schema);
    if (Buffer.byteLength(text) > limits.checkedSchemaBytesMax) return [];
    const hash = createHash('sha256').update(text).digest('base64');
    const validate = this.#validatorOf(hash, schema);
    if (validate === 'unchecked') return [];
    const problems = withinTime(() => (validate(value) ? [] : problemsOf(validate.errors ?? [])));
    if (problems !== null) return problems;
    this.#compiled.set(hash, 'unchecked');
    return [];
  }

  #validatorOf(hash: string, schema: JsonObject): ValidateFunction | 'unchecked' {
    const existing = this.#compiled.get(hash);
    if (existing !== undefined) return existing;
    const validate = withinTime(() => compiled(schema)) ?? 'unchecked';
    this.#compiled.set(hash, validate);
    return validate;
  }
}

function compiled(schema: JsonObject): ValidateFunction | null {
  const bounded = withLinearPatterns(schema, limits.checkedSchemaLevelsMax);
  if (bounded === null) return null;
  const ajv = draft7({
    // All of them could be many times as large as the value.
    allErrors: false,
    meta: false,
    validateSchema: false,
    code: { regExp: linearRegExp },
  });
  return ajv.compile(bounded);
}

const linearRegExp = Object.assign(
  (pattern: string) => ({ test: linearTest(pattern) ?? (() => true) }),
  // Only for validators that are printed as code.
  { code: 'linearRegExp' },
);

const timed = new Script('work()');
const context = createContext({});

/** Null when the work fails or takes too long: the cost of a schema can be exponential in its size. */
function withinTime<T>(work: () => T): T | null {
  context['work'] = work;
  try {
    return timed.runInContext(context, { timeout: limits.schemaCheckMs }) as T;
  } catch {
    return null;
  } finally {
    context['work'] = undefined;
  }
}

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
function withLinearPatterns(schema: JsonObject, levelsMax: number): JsonObject | null {
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

/** Same members as `\s` of ECMAScript, which has more than that of RE2. */
const space = String.raw`\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;
const notSpace = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;
const anyChar = String.raw`[^\n\r\x{2028}\x{2029}]`;

/** What RE2 reads otherwise than an ECMAScript expression without the flag `u` does. */
const readOtherwise = /\\[ACEGPQZkpz]|\\x\{|\[:/;

/**
 * The test of a pattern in time linear in the text; null for what has no such test (look-around, back-references,
 * repetitions above 1000) and for what is no pattern.
 */
export function linearTest(pattern: string): ((text: string) => boolean) | null {
  if (!isPattern(pattern, 'u') && (readOtherwise.test(pattern) || !isPattern(pattern, ''))) {
    return null;
  }
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(asEcmaScript(pattern)));
    return (text) => compiled.test(text);
  } catch {
    return null;
  }
}

function isPattern(pattern: string, flags: 'u' | ''): boolean {
  try {
    // oxlint-disable-next-line svc/literal-pattern -- compiled for its syntax, never run
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

function asEcmaScript(pattern: string): string {
  let isInClass = false;
  return pattern.replaceAll(/\\[^]|[.[\]]/g, (token) => {
    if (token === String.raw`\s`) return isInClass ? space : `[${space}]`;
    if (token === String.raw`\S`) return isInClass ? notSpace : `[${notSpace}]`;
    if (token === '.') return isInClass ? token : anyChar;
    if (token === '[' && !isInClass) isInClass = true;
    else if (token === ']') isInClass = false;
    return token;
  });
}
