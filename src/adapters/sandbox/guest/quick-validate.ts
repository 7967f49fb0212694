import { z } from 'zod';
import type { Json, JsonObject } from '../../../kernel/stable-json.ts';

/** Deeper values are left to the full check. */
const depthMax = 32;
/** Keys of `.meta()` that do not affect validation; any other key may be JSON Schema. */
const saysNothing = new Set(['id', 'title', 'description', 'examples', 'deprecated']);

/** The internal definition of the schema kinds below. */
interface Def {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly format?: unknown;
  readonly innerType?: unknown;
  readonly element?: unknown;
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly entries?: Readonly<Record<string, unknown>>;
  readonly values?: readonly unknown[];
  readonly options?: readonly unknown[];
  readonly inclusive?: boolean;
  readonly keyType?: unknown;
  readonly valueType?: unknown;
}

/**
 * Whether the value certainly fits the schema. Takes a tenth of the time of generating the JSON Schema, and accepts
 * most values of most functions. False means unknown: the full check decides, and has the messages.
 */
export function quicklyValid(schema: unknown, value: Json | undefined, depth = 0): boolean {
  if (value === undefined || depth > depthMax || !(schema instanceof z.ZodType)) return false;
  const def = schema._zod.def as unknown as Def;
  const isRefined = (def.checks?.length ?? 0) > 0 || def.format !== undefined;
  if (isRefined || !isPlain(schema)) return false;
  const inner = (one: unknown, ref: Json | undefined): boolean => quicklyValid(one, ref, depth + 1);
  switch (def.type) {
    case 'any':
    case 'unknown':
      return true;
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === def.type;
    case 'null':
      return value === null;
    case 'nullable':
      return value === null || inner(def.innerType, value);
    case 'optional':
    case 'default':
    case 'readonly':
      return inner(def.innerType, value);
    case 'literal':
      return isText(value) && def.values?.includes(value) === true;
    case 'enum':
      return isText(value) && isNamed(Object.values(def.entries ?? {}), value);
    case 'array':
      return Array.isArray(value) && value.every((item: Json) => inner(def.element, item));
    case 'union':
      return def.inclusive !== false && def.options?.some((one) => inner(one, value)) === true;
    case 'object':
      return isObject(value) && objectFits(def.shape ?? {}, value, inner);
    case 'record':
      return (
        isObject(value) && Object.entries(value).every((entry) => entryFits(def, entry, inner))
      );
    default:
      return false;
  }
}

type Inner = (schema: unknown, value: Json | undefined) => boolean;

/** Every key is declared, and every required one is present. */
function objectFits(
  shape: Readonly<Record<string, unknown>>,
  value: JsonObject,
  inner: Inner,
): boolean {
  if (!Object.keys(value).every((key) => Object.hasOwn(shape, key))) return false;
  return Object.entries(shape).every(([key, schema]) =>
    Object.hasOwn(value, key) ? inner(schema, value[key]) : schema instanceof z.ZodOptional,
  );
}

const entryFits = (def: Def, [key, value]: [string, Json], inner: Inner): boolean =>
  inner(def.keyType, key) && inner(def.valueType, value);

function isPlain(schema: z.ZodType): boolean {
  const meta = z.globalRegistry.get(schema);
  return meta === undefined || Object.keys(meta).every((key) => saysNothing.has(key));
}

/** A numeric enum also has its names among its values. */
const isNamed = (entries: readonly unknown[], value: string): boolean =>
  entries.every((entry) => typeof entry === 'string') && entries.includes(value);

const isText = (value: Json): value is string => typeof value === 'string';
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
