import { isJsonObject, type Json, type JsonObject } from './stable-json.ts';

/**
 * The value at a dotted path: own properties only (`__proto__` is a name like others); a key may itself contain
 * dots, a number selects an element of a list.
 */
export function atPath(value: Json | undefined, path: string): Json | undefined {
  if (isJsonObject(value) && Object.hasOwn(value, path)) return value[path];
  const [head = '', ...rest] = path.split('.');
  if (Array.isArray(value)) {
    const item = /^\d+$/.test(head) ? (value as readonly Json[])[Number(head)] : undefined;
    return rest.length === 0 ? item : atPath(item, rest.join('.'));
  }
  if (!isJsonObject(value)) return undefined;
  if (rest.length === 0 || !Object.hasOwn(value, head)) return undefined;
  return atPath(value[head], rest.join('.'));
}

/** A value in the form of a parameter: text unchanged, anything else as JSON. */
export const plainText = (value: Json): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** Text or a number at the path, as text; null if there is neither. */
export function textAt(value: JsonObject, path: string): string | null {
  const found = atPath(value, path);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' && found !== '' ? found : null;
}

/** Paths of every key `__proto__` in the value: zod ignores them, whatever the schema. */
export function protoKeysIn(value: Json, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, Json]) => {
    const at = [...path, key];
    return [...(key === '__proto__' ? [at.join('.')] : []), ...protoKeysIn(inner, at)];
  });
}
