import { isJsonObject, type Json, type JsonObject } from '../../kernel/stable-json.ts';
import { resolved } from './schemas.ts';

const ofFormats: Readonly<Record<string, string>> = {
  uuid: '6f1c0c6e-5d0b-4d0e-9d57-0a4b3d8c1f11',
  'date-time': '2026-02-01T08:00:00.000Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
};

/** A value that a schema allows: its own example if it has one, otherwise one composed of its parts. */
export function exampleOf(schema: JsonObject, components: JsonObject): Json {
  const existing = resolved(schema, components);
  const { examples, default: standard, enum: values, anyOf, oneOf } = existing;
  if ('const' in existing) return existing['const'] ?? null;
  const first = [examples, values].find(isFilled)?.[0];
  if (first !== undefined) return first;
  if (standard !== undefined) return standard;
  const choice = [anyOf, oneOf].find(isFilled)?.[0];
  if (isJsonObject(choice)) return exampleOf(choice, components);
  return ofType(existing, components);
}

const isFilled = (value: Json | undefined): value is Json[] =>
  Array.isArray(value) && value.length > 0;

function ofType(schema: JsonObject, components: JsonObject): Json {
  const { type, minimum, format, items } = schema;
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return ofObject(schema, components);
    case 'array':
      return isJsonObject(items) ? [exampleOf(items, components)] : [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' && minimum > 0 ? minimum : 0;
    case 'boolean':
      return true;
    case 'string':
      return (typeof format === 'string' ? ofFormats[format] : undefined) ?? 'text';
    default:
      return type === 'null' ? null : {};
  }
}

/** Optional members are omitted, except those with an example. */
function ofObject(schema: JsonObject, components: JsonObject): JsonObject {
  const { properties, required } = schema;
  if (!isJsonObject(properties)) return {};
  const needed = Array.isArray(required) ? required : [];
  const shown = Object.entries(properties).filter(([name, member]) => {
    return needed.includes(name) || (isJsonObject(member) && isFilled(member['examples']));
  });
  return Object.fromEntries(
    shown.map(([name, member]) => [name, exampleOf(member as JsonObject, components)]),
  );
}
