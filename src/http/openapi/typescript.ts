import { typeOf as typeOfSchema } from '#json-schema/typescript.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';

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

/** Schemas are named by the end of their path. */
const typeOf = (schema: JsonObject): string =>
  typeOfSchema(schema, (reference) => reference.slice(reference.lastIndexOf('/') + 1));
