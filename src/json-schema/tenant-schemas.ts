import { createHash } from 'node:crypto';
import { createContext, Script } from 'node:vm';
import type { ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import { limits } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { draft7 } from './ajv.ts';
import { withLinearPatterns } from './bounded-schema.ts';
import { linearTest } from './linear-pattern.ts';
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
