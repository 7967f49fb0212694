import { isJsonObject, objectOf, type Json, type JsonObject } from '../../kernel/stable-json.ts';

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const head = `/* oxlint-disable -- made by a program */
/**
 * The operations of the API with what they take and answer, made of its OpenAPI document by \`npm run generate\`; do
 * not edit.
 */
`;

/** The types of a client: one for each named schema, and `Operations` by method and path. */
export function clientTypes(document: JsonObject): string {
  const schemas = Object.entries(objectOf(objectOf(document['components'])['schemas']));
  const named = schemas.map(([name, schema]) => {
    return `export type ${name} = ${typeOf(objectOf(schema))};\n`;
  });
  const operations = Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) =>
      operationType(`${method.toUpperCase()} ${path}`, objectOf(operation)),
    ),
  );
  return `${head}\n${named.join('\n')}\nexport interface Operations {\n${operations.join('')}}\n`;
}

function operationType(name: string, operation: JsonObject): string {
  const { summary, requestBody, responses } = operation;
  const parts = [
    ...parametersPart('params', 'path', operation),
    ...parametersPart('query', 'query', operation),
    ...parametersPart('headers', 'header', operation),
    ...(isJsonObject(requestBody) ? [bodyPart(requestBody)] : []),
    `readonly answer: ${answerType(objectOf(responses))};`,
  ];
  const lines = parts.map((part) => `    ${part}\n`).join('');
  return `  /** ${textOf(summary)} */\n  '${name}': {\n${lines}  };\n`;
}

/** The idempotency key is an option of every request. */
const optionHeader = 'idempotency-key';

function parametersPart(field: string, position: string, operation: JsonObject): string[] {
  const found = listOf(operation['parameters'])
    .map(objectOf)
    .filter((one) => one['in'] === position && one['name'] !== optionHeader);
  if (found.length === 0) return [];
  const needed = found.filter((one) => one['required'] === true).map(({ name }) => name ?? '');
  const properties = found.map((one) => [textOf(one['name']), one['schema'] ?? {}] as const);
  const type = typeOf({
    type: 'object',
    properties: Object.fromEntries(properties),
    required: needed,
  });
  return [`readonly ${field}${needed.length > 0 ? '' : '?'}: ${type};`];
}

function bodyPart(requestBody: JsonObject): string {
  const { schema } = objectOf(objectOf(requestBody['content'])['application/json']);
  const mark = requestBody['required'] === true ? '' : '?';
  return `readonly body${mark}: ${schema === undefined ? 'unknown' : typeOf(objectOf(schema))};`;
}

/** The union of all successes; a body that is not JSON is text. */
function answerType(responses: JsonObject): string {
  const types = Object.entries(responses)
    .filter(([status]) => /^2|default/.test(status))
    .map(([, response]) => {
      const { content } = objectOf(response);
      if (!isJsonObject(content)) return 'undefined';
      const media = content['application/json'];
      if (isJsonObject(media)) return typeOf(objectOf(media['schema']));
      return '*/*' in content ? 'unknown' : 'string';
    });
  return types.length === 0 ? 'never' : [...new Set(types)].join(' | ');
}

function typeOf(schema: JsonObject): string {
  const { $ref: reference, enum: values, type, anyOf, oneOf } = schema;
  if (typeof reference === 'string') return reference.slice(reference.lastIndexOf('/') + 1);
  if ('const' in schema) return literal(schema['const'] ?? null);
  if (Array.isArray(values)) return values.map(literal).join(' | ');
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices)) return union(choices.map((one) => typeOf(objectOf(one as Json))));
  if (Array.isArray(type))
    return union(type.map((one) => typeOf({ ...schema, type: one as Json })));
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `readonly ${inBrackets(typeOf(objectOf(schema['items'])))}[]`;
    case 'integer':
      return 'number';
    default:
      return typeof type === 'string' ? type : 'unknown';
  }
}

const literal = (value: Json): string =>
  typeof value === 'string' ? `'${value.replaceAll("'", String.raw`\'`)}'` : JSON.stringify(value);

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

const inBrackets = (type: string): string => (/^\w+$/.test(type) ? type : `(${type})`);

function objectType({ properties, required, additionalProperties: others }: JsonObject): string {
  const needed = listOf(required);
  const members = Object.entries(objectOf(properties)).map(([name, schema]) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    return `readonly ${key}${needed.includes(name) ? '' : '?'}: ${typeOf(objectOf(schema))}`;
  });
  const isOpen = others !== false && (others !== undefined || members.length === 0);
  // The index signature must also cover the named members.
  const other = members.length > 0 ? 'unknown' : typeOf(objectOf(others));
  if (isOpen) members.push(`readonly [name: string]: ${other}`);
  return `{ ${members.join('; ')} }`;
}
