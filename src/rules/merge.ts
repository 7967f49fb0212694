import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';

/**
 * The deep merge of docs/reference/functions.md#records: objects merge recursively, everything else (arrays and null
 * too) replaces the existing value, absent fields stay. The arguments are not changed.
 */
export function merge(kept: JsonObject, input: JsonObject): JsonObject {
  const merged: Record<string, Json> = { ...kept };
  for (const [key, value] of Object.entries(input)) {
    const present = Object.hasOwn(kept, key) ? kept[key] : undefined;
    const both = isJsonObject(present) && isJsonObject(value);
    put(merged, key, both ? merge(present, value) : value);
  }
  return merged;
}

/** A record may have a field named `__proto__`, which is an ordinary field. */
function put(target: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') target[key] = value;
  else {
    const field = { value, enumerable: true, configurable: true, writable: true };
    Object.defineProperty(target, key, field);
  }
}
