import { setImmediate as breath } from 'node:timers/promises';
import { isJsonObject, objectOf, type Json, type JsonObject } from '../../../kernel/stable-json.ts';

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The document for people: one section per tag, one entry per operation; yields to other requests in between. */
export async function referencePage(document: JsonObject): Promise<string> {
  const sections: string[] = [];
  const paths = Object.entries(objectOf(document['paths']));
  const tags = [...new Set(paths.map(([path]) => tagOf(path)))];
  for (const tag of tags) {
    const entries: string[] = [];
    for (const [path, item] of paths.filter(([ref]) => tagOf(ref) === tag)) {
      entries.push(...operationsOf(path, objectOf(item), document));
      await breath();
    }
    sections.push(`<section id="${tag}"><h2>${escaped(tag)}</h2>${entries.join('')}</section>`);
  }
  const links = tags.map((tag) => `<li><a href="#${tag}">${escaped(tag)}</a></li>`).join('');
  const { version, description } = objectOf(document['info']);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>svc API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/api/style.css"></head>
<body><nav aria-label="Resources"><ul>${links}</ul></nav>
<main><h1>svc API ${escaped(textOf(version))}</h1>${paragraphs(textOf(description))}
<p>As a document: <a href="/openapi.json">openapi.json</a></p>${sections.join('')}</main></body></html>
`;
}

export const tagOf = (path: string): string => path.split('/')[1] ?? '';
const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Paragraphs of plain text with `code` spans. */
const paragraphs = (text: string): string =>
  text
    .split('\n\n')
    .map((part) => `<p>${escaped(part).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('');

function operationsOf(path: string, item: JsonObject, document: JsonObject): string[] {
  return methods.flatMap((method) => {
    const operation = item[method];
    return isJsonObject(operation) ? [operationEntry(method, path, operation, document)] : [];
  });
}

function operationEntry(
  method: string,
  path: string,
  operation: JsonObject,
  document: JsonObject,
): string {
  const { operationId: id, summary, deprecated, requestBody } = operation;
  const scopes = listOf(operation['x-svc-scopes']).map((scope) => code(textOf(scope)));
  const takes = listOf(operation['security']).flatMap((one) => Object.keys(objectOf(one)));
  const mark = deprecated === true ? ' <em>deprecated</em>' : '';
  return `<details id="${escaped(textOf(id))}"><summary><code class="${method}">${method.toUpperCase()}</code> <code>${escaped(path)}</code>${mark}
<span>${escaped(textOf(summary))}</span></summary>
<p>${takes.length === 0 ? 'Takes no credential.' : `Takes ${takes.map(code).join(' or ')}.`}
${scopes.length === 0 ? '' : `Any one of the scopes ${scopes.join(', ')}.`}</p>
${parametersTable(listOf(operation['parameters']), document)}
${isJsonObject(requestBody) ? bodyOf('Body', requestBody, document) : ''}
${responsesOf(objectOf(operation['responses']), document)}</details>`;
}

const code = (text: string): string => `<code>${escaped(text)}</code>`;

function parametersTable(parameters: readonly Json[], document: JsonObject): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) => {
    const { name, in: position, required, schema } = objectOf(parameter);
    const type = typeText(objectOf(schema), document);
    const need = required === true ? 'required' : '';
    return `<tr><td>${code(textOf(name))}</td><td>${textOf(position)}</td><td>${escaped(type)}</td><td>${need}</td></tr>`;
  });
  const head = '<tr><th>Parameter</th><th>In</th><th>Type</th><th></th></tr>';
  return `<table>${head}${rows.join('')}</table>`;
}

function bodyOf(title: string, ref: JsonObject, document: JsonObject): string {
  const parts = Object.entries(objectOf(ref['content'])).map(([type, media]) => {
    const { schema, example } = objectOf(media);
    const shape = typeText(objectOf(schema), document);
    const shown = example === undefined ? '' : `<pre>${pretty(example)}</pre>`;
    return `<h4>${escaped(title)} <small>${escaped(type)}</small></h4><pre>${escaped(shape)}</pre>${shown}`;
  });
  return parts.join('');
}

const pretty = (value: Json): string => escaped(JSON.stringify(value, null, 2));

function responsesOf(responses: JsonObject, document: JsonObject): string {
  return Object.entries(responses)
    .map(([status, response]) => {
      const existing = referred(objectOf(response), document);
      const text = paragraphs(textOf(existing['description']));
      const isSuccess = /^[23]|default/.test(status);
      return `<h3>${escaped(status)}</h3>${text}${isSuccess ? bodyOf('Answer', existing, document) : ''}`;
    })
    .join('');
}

/** Resolves a reference such as `#/components/responses/Forbidden`. */
function referred(value: JsonObject, document: JsonObject): JsonObject {
  const { $ref: reference } = value;
  if (typeof reference !== 'string') return value;
  const [, , group = '', name = ''] = reference.split('/');
  return objectOf(objectOf(objectOf(document['components'])[group])[name]);
}

/**
 * A schema as a TypeScript type.
 * @param depth indentation of nested lines
 */
function typeText(schema: JsonObject, document: JsonObject, depth = 0): string {
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
