import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';

/** The name of the type that a `$ref` means. */
export type NameOf = (reference: string) => string;

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

const plainTypes: ReadonlyMap<Json | undefined, string> = new Map([
  ['string', 'string'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['null', 'null'],
]);

/** The TypeScript type of the values of a schema; what a type cannot express is left out. */
export function typeOf(schema: JsonObject, nameOf: NameOf): string {
  const { $ref: reference, enum: values, type, anyOf, oneOf, allOf, not } = schema;
  const each = (choices: readonly Json[]): string[] =>
    choices.map((one) => typeOf(objectOf(one), nameOf));
  if (typeof reference === 'string') return nameOf(reference);
  if ('const' in schema) return literal(schema['const'] ?? null);
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(each(choices));
  if (Array.isArray(allOf)) return each(allOf).map(inBrackets).join(' & ');
  if (isJsonObject(not) && Object.keys(not).length === 0) return 'never';
  if (Array.isArray(type))
    return union(type.map((one) => typeOf({ ...schema, type: one as Json }, nameOf)));
  if (type === 'object') return objectType(schema, nameOf);
  if (type === 'array') return arrayType(schema, nameOf);
  return plainTypes.get(type) ?? 'unknown';
}

/** A text as a literal of source code. */
export const quoted = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;

const literal = (value: Json): string =>
  typeof value === 'string'
    ? quoted(value)
    : isJsonObject(value) || Array.isArray(value)
      ? 'unknown'
      : JSON.stringify(value);

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const inBrackets = (type: string): string => (/^\w+$/.test(type) ? type : `(${type})`);

function arrayType({ items, additionalItems: rest, minItems }: JsonObject, nameOf: NameOf): string {
  const ofSchema = (schema: Json | undefined): string => typeOf(objectOf(schema), nameOf);
  if (!Array.isArray(items)) return `readonly ${inBrackets(ofSchema(items))}[]`;
  const needed = typeof minItems === 'number' ? minItems : 0;
  const members = listOf(items).map(
    (one, at) => inBrackets(ofSchema(one)) + (at < needed ? '' : '?'),
  );
  if (rest !== false) members.push(`...${inBrackets(ofSchema(rest))}[]`);
  return `readonly [${members.join(', ')}]`;
}

function objectType(
  { properties, required, additionalProperties: others }: JsonObject,
  nameOf: NameOf,
): string {
  const needed = listOf(required);
  const members = Object.entries(objectOf(properties)).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : quoted(name);
    const type = typeOf(objectOf(schema), nameOf);
    return `readonly ${key}${needed.includes(name) ? '' : '?'}: ${type}`;
  });
  const isOpen = others !== false && (others !== undefined || members.length === 0);
  // The index signature must also cover the named members.
  const other = members.length > 0 ? 'unknown' : typeOf(objectOf(others), nameOf);
  if (isOpen) members.push(`readonly [name: string]: ${other}`);
  return `{ ${members.join('; ')} }`;
}
