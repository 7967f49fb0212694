import type { ErrorObject } from 'ajv';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';

/** One place of a value that does not fit its schema. */
export interface Problem {
  /** Dotted; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Choices and fields that a message lists. */
const listedMax = 20;
const valueCharsMax = 60;

/**
 * What is wrong and what is expected, once for each place. Of a union only what is wrong deeper inside its branches is
 * named, and where nothing is, the types that fit.
 * @param errors with `verbose`
 */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const shown = errors.filter((error) => {
    // The error of the keyword `propertyNames` names it.
    if (error.keyword === 'if' || error.propertyName !== undefined) return false;
    const isInside = unions.some((union) => union !== error && isBranch(error, union));
    if (isInside) return false;
    return !unions.includes(error) || !errors.some((other) => isDeeper(other, error));
  });
  const problems = shown.map((error) => problemOf(error));
  const seen = new Set<string>();
  return problems.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    return !seen.has(key) && seen.add(key);
  });
}

export const problemLine = ({ path, message }: Problem): string =>
  path === '' ? message : `${path}: ${message}`;

/** A branch of the union is for values of another kind. */
const isBranch = (error: ErrorObject, union: ErrorObject): boolean =>
  error.instancePath === union.instancePath &&
  ofAnotherKind.has(error.keyword) &&
  parentOf(error.schemaPath) !== parentOf(union.schemaPath);

const isDeeper = (error: ErrorObject, union: ErrorObject): boolean =>
  error.instancePath.startsWith(`${union.instancePath}/`) ||
  (error.instancePath === union.instancePath &&
    !ofAnotherKind.has(error.keyword) &&
    parentOf(error.schemaPath) !== parentOf(union.schemaPath));

/** Keywords that say that a branch is not meant; others say what a branch that is meant lacks. */
const ofAnotherKind = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf']);

const parentOf = (schemaPath: string): string => schemaPath.slice(0, schemaPath.lastIndexOf('/'));

function problemOf(error: ErrorObject): Problem {
  const { keyword, params, instancePath, data, message = 'does not fit the schema' } = error;
  const value = data as Json;
  const schema = (error.parentSchema ?? {}) as JsonObject;
  const details = params as Readonly<Record<string, unknown>>;
  const path = instancePath === '' ? [] : instancePath.slice(1).split('/').map(unescaped);
  const at = (text: string, child?: string): Problem => ({
    path: [...path, ...(child === undefined ? [] : [child])].join('.'),
    message: text,
  });
  switch (keyword) {
    case 'type':
      return at(`expected ${expectedOf(schema)}, got ${kindOf(value)}`);
    case 'enum':
    case 'const':
    case 'anyOf':
    case 'oneOf':
      return at(`expected ${expectedOf(schema)}, got ${shortened(value)}`);
    case 'required': {
      const name = String(details['missingProperty']);
      const { properties } = schema;
      if (!isJsonObject(properties) || !Object.hasOwn(properties, name))
        return at('required', name);
      return at(`required, expected ${expectedOf(properties[name])}`, name);
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const name = String(details['additionalProperty'] ?? details['unevaluatedProperty']);
      return at(`unknown field${allowedOf(schema, name)}`, name);
    }
    case 'propertyNames': {
      const { propertyNames } = schema;
      const wanted = isJsonObject(propertyNames) ? propertyNames['description'] : undefined;
      const expected = typeof wanted === 'string' ? `, expected ${wanted}` : '';
      return at(`not a valid name${expected}`, String(details['propertyName']));
    }
    case 'false schema':
      return at('not allowed');
    default:
      return at(`${message}, got ${shortened(value)}`);
  }
}

/** Of the fields that are known, those that the name may have meant, or all where they are few. */
function allowedOf({ properties }: JsonObject, name: string): string {
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const head = name.slice(0, 3).toLowerCase();
  const wanted =
    names.length <= listedMax ? names : names.filter((one) => one.toLowerCase().startsWith(head));
  return wanted.length === 0 ? '' : `, allowed: ${wanted.slice(0, listedMax).join(', ')}`;
}

/** What a schema takes, in words. */
function expectedOf(schema: Json | undefined): string {
  if (!isJsonObject(schema)) return 'a value';
  const { type, enum: choices, const: only, anyOf, oneOf } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(choices)) {
    const listed = choices.slice(0, listedMax).map((choice: Json) => JSON.stringify(choice));
    const more = choices.length > listedMax ? ', …' : '';
    return choices.length === 1 ? `${listed[0]}` : `one of ${listed.join(', ')}${more}`;
  }
  if (typeof type === 'string') return type;
  const branches = Array.isArray(type) ? type.map(String) : namesOf(anyOf ?? oneOf);
  return branches.length === 0 ? 'a value' : [...new Set(branches)].join(' or ');
}

const namesOf = (branches: Json | undefined): string[] =>
  Array.isArray(branches) ? branches.map((branch: Json) => expectedOf(branch)) : [];

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shortened(value: Json): string {
  if (typeof value === 'object' && value !== null) return kindOf(value);
  const text = JSON.stringify(value);
  return text.length <= valueCharsMax ? text : `${text.slice(0, valueCharsMax)}…`;
}

/** A step of a JSON pointer (RFC 6901). */
const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
