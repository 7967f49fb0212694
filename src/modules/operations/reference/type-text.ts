import { isJsonObject, objectOf, type Json, type JsonObject } from '../../../kernel/stable-json.ts';

/**
 * A schema as a TypeScript type.
 * @param depth indentation of nested lines
 */
export function typeText(schema: JsonObject, document: JsonObject, depth = 0): string {
  const { $ref: reference, enum: values, type, items } = schema;
  if (typeof reference === 'string') return named(reference, document, depth);
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ');
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) {
    return choices.map((one: Json) => typeText(objectOf(one), document, depth)).join(' | ');
  }
  if (Array.isArray(type)) return type.join(' | ');
  if (type === 'array') return `Array<${typeText(objectOf(items), document, depth)}>`;
  if (type === 'object') return objectText(schema, document, depth);
  return typeof type === 'string' ? type + formatText(schema) : 'any';
}

function formatText({ format, minimum, maximum, minLength, maxLength }: JsonObject): string {
  const [least, most] = [minimum ?? minLength, maximum ?? maxLength];
  const isKnown = typeof most === 'number' && most < Number.MAX_SAFE_INTEGER;
  const range = isKnown ? ` (${typeof least === 'number' ? least : 0} to ${most})` : '';
  return (typeof format === 'string' ? ` (${format})` : '') + range;
}

/** Expanded inline: no schema of the document is recursive. */
function named(reference: string, document: JsonObject, depth: number): string {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  const schemas = objectOf(objectOf(document['components'])['schemas']);
  return typeText(objectOf(schemas[name]), document, depth);
}

function objectText(schema: JsonObject, document: JsonObject, depth: number): string {
  const { properties, required, additionalProperties: others } = schema;
  const needed = Array.isArray(required) ? required : [];
  const margin = '  '.repeat(depth + 1);
  const lines = Object.entries(objectOf(properties)).map(([name, member]) => {
    const mark = needed.includes(name) ? '' : '?';
    return `${margin}${name}${mark}: ${typeText(objectOf(member), document, depth + 1)}`;
  });
  if (isJsonObject(others)) lines.push(`${margin}[any]: ${typeText(others, document, depth + 1)}`);
  return lines.length === 0 ? 'object' : `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}
