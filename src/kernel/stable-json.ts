import { isRawInteger } from './exact-json.ts';

/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

/** JSON text with the keys sorted at every level and no white space: equal values give equal bytes. */
export function stableJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => stableJson(item)).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const parts = Object.entries(value)
    .filter(([, item]) => (item as unknown) !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${stableJson(item)}`);
  return `{${parts.join(',')}}`;
}

/** An integer in its own digits is an object of the language, but a number of JSON. */
export function isJsonObject(value: unknown): value is Record<string, Json> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawInteger(value)
  );
}

/** The value itself if it is an object, otherwise an empty one. */
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
