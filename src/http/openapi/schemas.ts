import { z } from 'zod';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';

/** Collects the named schemas of a document. */
export interface SchemaPool {
  /** The schema of client input: before transformations. */
  input(schema: z.ZodType): JsonObject;
  /** The schema of service output. */
  output(schema: z.ZodType): JsonObject;
  /** `components.schemas` used so far. */
  readonly components: JsonObject;
  /** A reference to a response that many operations share; the response itself if another one has the name. */
  shared(name: string | undefined, response: JsonObject): JsonObject;
  /** `components.responses` shared so far. */
  readonly responses: JsonObject;
}

const componentsPath = '#/components/schemas/';

/** What the names of fields stand for; a description or example in the schema takes precedence. */
export interface FieldNames {
  /** Of names with one meaning everywhere: a description, and an example. */
  readonly descriptions: Readonly<Record<string, readonly [text: string, example?: Json]>>;
  /** Examples of fields that are texts, or lists of them. */
  readonly examples: Readonly<Record<string, string>>;
}

/** Named by `meta({ id })`; two schemas with one name are a bug. */
export function createSchemaPool(names: FieldNames): SchemaPool {
  const components: Record<string, Json> = {};
  const responses: Record<string, Json> = {};
  const converted = (schema: z.ZodType, io: 'input' | 'output'): JsonObject => {
    const made = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
    // The generated schema is plain JSON except for undefined members.
    const whole = JSON.parse(JSON.stringify(made)) as JsonObject;
    const plain = described(whole, names) as Record<string, Json>;
    const { $schema: _dialect, $defs: definitions, ...rest } = plain;
    for (const [name, definition] of Object.entries(objectOf(definitions))) {
      keep(components, name, definition as JsonObject);
    }
    const { id, ...root } = referring(rest) as Record<string, Json>;
    if (typeof id !== 'string') return root;
    keep(components, id, root);
    return { $ref: componentsPath + id };
  };
  return {
    input: (schema) => converted(schema, 'input'),
    output: (schema) => converted(schema, 'output'),
    components,
    responses,
    shared(name, response) {
      if (name === undefined) return response;
      const existing = (responses[name] ??= response);
      const isSame = JSON.stringify(existing) === JSON.stringify(response);
      return isSame ? { $ref: `#/components/responses/${name}` } : response;
    },
  };
}

/** Each field at every depth with its own description, or that of its name. */
function described(value: Json, names: FieldNames): Json {
  if (Array.isArray(value)) return value.map((item: Json) => described(item, names));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([keyword, item]) => {
    if (isData.has(keyword)) return [keyword, item];
    if (keyword !== 'properties') return [keyword, described(item ?? null, names)];
    const fields = Object.entries(objectOf(item)).map(([name, field]) => {
      return [name, describedField(name, described(field ?? {}, names) as JsonObject, names)];
    });
    return [keyword, Object.fromEntries(fields) as JsonObject];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** Keywords whose values are no schemas. */
const isData = new Set(['examples', 'default', 'const', 'enum', 'required']);

function describedField(name: string, field: JsonObject, names: FieldNames): Json {
  const [description, example] = ownOf(names.descriptions, name) ?? [];
  const isMeant = description !== undefined && !('description' in field);
  const shown = isMeant && example !== undefined ? example : exampleOfText(name, field, names);
  const hasExample = ['examples', 'const', 'enum', 'default', '$ref'].some((one) => one in field);
  return {
    ...(isMeant ? { description } : {}),
    ...(shown === undefined || hasExample ? {} : { examples: [shown] }),
    ...field,
  };
}

const ownOf = <V>(map: Readonly<Record<string, V>>, name: string): V | undefined =>
  Object.hasOwn(map, name) ? map[name] : undefined;

function exampleOfText(name: string, field: JsonObject, names: FieldNames): Json | undefined {
  const example = ownOf(names.examples, name);
  const { items } = field;
  if (example === undefined) return undefined;
  if (isText(field)) return example;
  return isJsonObject(items) && isText(items) ? [example] : undefined;
}

const isText = ({ type, ...rest }: JsonObject): boolean =>
  [type].flat().includes('string') && !('format' in rest || 'enum' in rest);

function keep(components: Record<string, Json>, name: string, schema: JsonObject): void {
  const { id: _name, ...made } = referring(schema) as Record<string, Json>;
  const existing = components[name];
  if (existing !== undefined && JSON.stringify(existing) !== JSON.stringify(made)) {
    throw new Error(`two schemas are named ${name}`);
  }
  components[name] = made;
}

/** References within one schema become references within the document, in the form that client generators read. */
function referring(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => referring(item as Json));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([name, item]) => {
    const isReference = name === '$ref' && typeof item === 'string';
    return [name, isReference ? item.replace('#/$defs/', componentsPath) : referring(item)];
  });
  return sized(withoutObjectDefault(nullable(Object.fromEntries(entries) as JsonObject)));
}

const int32Max = 2 ** 31 - 1;

/** Integers are of 32 bits for generators, unless their format names another size. */
function sized(schema: JsonObject): JsonObject {
  const { type, maximum = int32Max + 1 } = schema;
  const isInteger = type === 'integer' || (Array.isArray(type) && type.includes('integer'));
  const isLarge = typeof maximum === 'number' && maximum > int32Max;
  return isInteger && isLarge ? { ...schema, format: 'int64' } : schema;
}

/** `anyOf: [{ type: 'string' }, { type: 'null' }]` as `type: ['string', 'null']`. */
function nullable(schema: JsonObject): JsonObject {
  const { anyOf, ...beside } = schema as Record<string, Json>;
  if (!Array.isArray(anyOf)) return schema;
  const [first, second, third] = anyOf as readonly (JsonObject | undefined)[];
  if (second?.['type'] !== 'null' || third !== undefined) return schema;
  const { type, enum: values, ...members } = first as Record<string, Json>;
  if (typeof type !== 'string' || 'const' in members) return schema;
  const choices = Array.isArray(values) ? { enum: [...(values as readonly Json[]), null] } : {};
  return { type: [type, 'null'], ...choices, ...members, ...beside };
}

/** Members have defaults of their own; generators of typed clients write that of the object as a literal. */
function withoutObjectDefault(schema: JsonObject): JsonObject {
  const { default: standard, ...rest } = schema as Record<string, Json>;
  return schema['type'] === 'object' && isJsonObject(standard) ? rest : schema;
}

/** The schema with references resolved. */
export function resolved(schema: JsonObject, components: JsonObject): JsonObject {
  const { $ref: reference, ...beside } = schema as Record<string, Json>;
  if (typeof reference !== 'string') return schema;
  const found = components[reference.slice(componentsPath.length)];
  return { ...resolved(objectOf(found), components), ...beside };
}
