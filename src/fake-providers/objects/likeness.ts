import { isJsonObject, stableJson, type Json } from '#kernel/stable-json.ts';

/** In a text of a fixture, for any text: an address of the gateway, a secret that the function makes. */
const anyText = '{text}';

/** Whether the value is that of the fixture, in which `{text}` stands for any text. */
export function isLike(expected: Json, value: Json | undefined): boolean {
  if (value === undefined) return false;
  if (typeof expected === 'string') {
    return typeof value === 'string' && isLikeText(expected.split(anyText), value);
  }
  if (Array.isArray(expected)) {
    const values = Array.isArray(value) ? (value as readonly Json[]) : [];
    const isSameLength = Array.isArray(value) && values.length === expected.length;
    return isSameLength && expected.every((one: Json, index) => isLike(one, values[index]));
  }
  if (!isJsonObject(expected)) return stableJson(expected) === stableJson(value);
  if (!isJsonObject(value)) return false;
  const names = Object.keys(expected);
  const hasSameNames = names.length === Object.keys(value).length;
  return hasSameNames && names.every((name) => isLike(expected[name] ?? null, value[name]));
}

/** @param parts what stands between any texts */
function isLikeText(parts: readonly string[], value: string): boolean {
  const [start = '', ...others] = parts;
  const end = others.pop();
  if (end === undefined) return value === start;
  if (!value.startsWith(start)) return false;
  let at = start.length;
  for (const part of others) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - end.length >= at && value.endsWith(end);
}
