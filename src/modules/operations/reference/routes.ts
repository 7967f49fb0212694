import { setImmediate as breath } from 'node:timers/promises';
import { z } from 'zod';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { jsonObject } from '#http/fields.ts';
import { openapiDocument, type Endpoints } from '#http/openapi/document.ts';
import { assetAnswer, cachedForever, pageBundle } from '#http/page-bundle.ts';
import { pageDocument } from '#http/page-document.ts';
import { content, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { objectOf, type JsonObject, isJsonObject, type Json } from '#kernel/stable-json.ts';
import { defineRoute, type OperationsSettings } from '../services.ts';
import { sitePolicy } from './policy.ts';

const bundle = pageBundle('api-reference');

const asset = defineRoute({
  method: 'GET',
  path: '/docs/api/assets/{file}',
  credential: 'none',
  scopes: [],
  summary: 'Get a script or style of the API reference.',
  description: 'Its name changes with its content.',
  params: z.strictObject({ file: z.string().max(255) }),
  headers: z.object({ 'accept-encoding': z.string().optional() }),
  answers: { 200: content('The file.', '*/*') },
  errors: ['not_found'],
  async handle({ params, headers }) {
    const found = (await bundle()).files.get(params.file);
    if (found === undefined) {
      throw new GatewayError('not_found', { message: `There is no file "${params.file}".` });
    }
    return assetAnswer(found, headers['accept-encoding'], cachedForever);
  },
});

interface ReferenceTexts {
  readonly document: Buffer;
  readonly page: RouteAnswer;
  readonly llms: Buffer;
}

/** @param endpoints read at the first request, because they include these routes */
export function referenceRoutes(endpoints: () => Endpoints): readonly AnyRoute[] {
  /** By address, which is known only when the server listens. */
  const made = new Map<string, Promise<ReferenceTexts>>();
  const texts = ({
    settings: { version, publicUrl },
  }: {
    readonly settings: OperationsSettings;
  }) => {
    const existing = made.get(publicUrl) ?? textsOf(endpoints(), { version, publicUrl });
    made.set(publicUrl, existing);
    return existing;
  };

  const openapi = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    credential: 'none',
    scopes: [],
    summary: 'Get this API as an OpenAPI 3.1 document.',
    answers: { 200: json('The document.', jsonObject) },
    errors: [],
    async handle({ services }) {
      return { status: 200, body: (await texts(services)).document };
    },
  });

  const page = defineRoute({
    method: 'GET',
    path: '/docs/api',
    credential: 'none',
    scopes: [],
    summary: 'Get the API reference.',
    description: 'This document as a page, with search.',
    answers: { 200: content('The page.', 'text/html') },
    errors: [],
    handle: async ({ services }) => (await texts(services)).page,
  });

  const llms = defineRoute({
    method: 'GET',
    path: '/llms.txt',
    credential: 'none',
    scopes: [],
    summary: 'Get this API as text for language models.',
    answers: { 200: content('The text.', 'text/plain') },
    errors: [],
    async handle({ services }) {
      const headers = { 'content-type': 'text/plain; charset=utf-8' };
      return { status: 200, body: (await texts(services)).llms, headers };
    },
  });
  return [openapi, page, asset, llms];
}

async function textsOf(
  endpoints: Endpoints,
  info: { readonly version: string; readonly publicUrl: string },
): Promise<ReferenceTexts> {
  const document = await openapiDocument(endpoints, info);
  return {
    document: Buffer.from(JSON.stringify(document)),
    page: await pageOf(document, info.publicUrl),
    llms: Buffer.from(llmsText(document, info.publicUrl)),
  };
}

async function pageOf(document: JsonObject, publicUrl: string): Promise<RouteAnswer> {
  const { nameOf } = await bundle();
  return pageDocument({
    status: 200,
    title: 'svc API',
    publicUrl,
    assets: '/docs/api/assets/',
    script: nameOf('page'),
    style: nameOf('style'),
    body: await referenceBody(document, { home: '../docs/', isGateway: true }),
    policy: [...sitePolicy, "frame-ancestors 'none'"],
    headers: { 'cache-control': 'no-cache' },
  });
}

/**
 * The API as Markdown for language models: an introduction, authentication, and a line for each operation with a link
 * to its details.
 * @param base address that the links begin with, without a slash at its end
 */
function llmsText(document: JsonObject, base: string): string {
  const operations = operationsOf(document);
  const sections = listOf(document['tags']).map((tag) => {
    const { name, description } = objectOf(tag);
    const lines = operations
      .filter((one) => one.tag === name && one.operation['deprecated'] !== true)
      .map((one) => lineOf(one, base));
    return `## ${textOf(name)}\n\n${textOf(description)}\n\n${lines.join('\n')}\n`;
  });
  const [summary, ...details] = textOf(objectOf(document['info'])['description']).split('\n\n');
  return `# svc

> ${summary}

${details.join('\n\n')}

Send \`Authorization: Bearer <key>\`, and bodies as JSON with \`Content-Type: application/json\`. What is about one connection
names it with the headers \`Provider-Config-Key\` and \`Connection-Id\`, or with fields of the same names. A refusal is
\`{"error":{"code","message","fix"}}\`: the code is stable, and \`fix\` says what to do.

- [The whole API as an OpenAPI 3.1 document](${base}/openapi.json)
- [The same to read](${base}/docs/api)
- [Guides, concepts and rules](${base}/docs/)
- [Pages for agents, as Markdown](${base}/docs/llms.txt)
- [Skill: from a wish to a deployed, tested sync](${base}/docs/agents/SKILL.md)

An agent manages an environment over MCP at \`${base}/mcp/management\`, with \`?write=true\` for tools that change something.

${sections.join('\n')}`;
}

function lineOf({ method, path, operation }: Operation, base: string): string {
  const link = `${base}/docs/api#${textOf(operation['operationId'])}`;
  return `- [${method.toUpperCase()} ${path}](${link}): ${textOf(operation['summary'])}`;
}

/**
 * The document for people, as the body of a page: one section per tag, one entry per operation; yields to other
 * requests in between.
 */
export async function referenceBody(
  document: JsonObject,
  {
    home,
    isGateway,
  }: {
    /** Path to the documentation; `openapi.json` is one folder up. */
    readonly home: string;
    /** Whether the page can send requests to the gateway that serves it. */
    readonly isGateway: boolean;
  },
): Promise<string> {
  const sections: string[] = [];
  const links: string[] = [];
  const operations = operationsOf(document);
  for (const one of listOf(document['tags'])) {
    const tag = objectOf(one);
    const [name, text] = [textOf(tag['name']), textOf(tag['description'])];
    const id = `tag-${name.toLowerCase().replaceAll(' ', '-')}`;
    const entries: string[] = [];
    for (const operation of operations.filter((found) => found.tag === name)) {
      entries.push(operationEntry(operation, document));
      await breath();
    }
    links.push(`<li><a href="#${id}">${escaped(name)}</a></li>`);
    const heading = `<h2>${escaped(name)}</h2>${paragraphs(text)}`;
    sections.push(`<section id="${id}">${heading}${entries.join('')}</section>`);
  }
  const { version, description } = objectOf(document['info']);
  return `<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<button type="button" class="menu-button" aria-controls="navigation" aria-expanded="false" hidden>Menu</button>
<a class="brand" href="${home}">svc <span>documentation</span></a>
<div class="search"><input id="search" type="search" placeholder="Search the API: path, field, error" aria-label="Search the API"></div>
<span class="version">${escaped(textOf(version))}</span>
<button type="button" class="theme-button" hidden>Theme</button>
</header>
<nav id="navigation" class="sidebar" aria-label="Groups of operations"><ul><li><a href="${home}">Documentation</a></li></ul>
<p class="label">API reference</p><ul>${links.join('')}</ul></nav>
<main id="content" tabindex="-1"${isGateway ? ' data-gateway' : ''}><article><h1>API reference</h1>${paragraphs(textOf(description))}
<p>As a document: <a href="../openapi.json">openapi.json</a>. <span id="found" role="status"></span></p>${sections.join('')}</article></main>
`;
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly operation: JsonObject;
}

const operationsOf = (document: JsonObject): readonly Operation[] =>
  Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, found]) => {
      const operation = objectOf(found);
      return { method, path, tag: textOf(listOf(operation['tags'])[0]), operation };
    }),
  );

const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

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

function operationEntry({ method, path, operation }: Operation, document: JsonObject): string {
  const { operationId: id, summary, deprecated, requestBody } = operation;
  const mark = deprecated === true ? ' <em>deprecated</em>' : '';
  return `<details id="${escaped(textOf(id))}"><summary><code class="${method}">${method.toUpperCase()}</code> <code>${escaped(path)}</code>${mark}
<span>${escaped(textOf(summary))}</span></summary>
${paragraphs(textOf(operation['description']))}
${parametersTable(listOf(operation['parameters']), document)}
${isJsonObject(requestBody) ? bodyOf('Request', requestBody, document) : ''}
${responsesOf(objectOf(operation['responses']), document)}</details>`;
}

const code = (text: string): string => `<code>${escaped(text)}</code>`;

function parametersTable(parameters: readonly Json[], document: JsonObject): string {
  const rows = parameters.map((parameter) => {
    const { name, in: location, required, schema, description } = objectOf(parameter);
    const { default: standard } = objectOf(schema);
    const standing = standard === undefined ? '' : `, default ${JSON.stringify(standard)}`;
    const type = typeText(objectOf(schema), document) + standing;
    const where = `${textOf(location)}${required === true ? ', required' : ''}`;
    return rowOf([code(textOf(name)), where, escaped(type), paragraphs(textOf(description))]);
  });
  return tableOf(['Parameter', 'In', 'Type', 'Meaning'], rows);
}

const rowOf = (cells: readonly string[]): string =>
  `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;

const tableOf = (head: readonly string[], rows: readonly string[]): string =>
  rows.length === 0
    ? ''
    : `<div class="fields" tabindex="0"><table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;

/** A row for each field at every depth, by its path; a list has `[]`, a map `{}` in it. */
function fieldRows(schema: JsonObject, document: JsonObject, parent = ''): string[] {
  const { properties, required, items, additionalProperties: others } = schemaOf(schema, document);
  const choices = [schema['anyOf'] ?? schema['oneOf'] ?? []].flat();
  const needed = listOf(required);
  const own = Object.entries(objectOf(properties)).flatMap(([name, member]) => {
    const field = objectOf(member);
    const path = parent === '' ? name : `${parent}.${name}`;
    const mark = needed.includes(name) ? 'yes' : '';
    const { description } = { ...schemaOf(field, document), ...field };
    const type = escaped(typeName(field, document));
    const row = rowOf([code(path), type, mark, paragraphs(textOf(description))]);
    return [row, ...fieldRows(field, document, path)];
  });
  const inner = [
    ...choices.map((choice: Json) => [choice, ''] as const),
    [items ?? null, '[]'] as const,
    [others ?? null, '{}'] as const,
  ];
  return [
    ...own,
    ...inner.flatMap(([part, mark]) =>
      isJsonObject(part) ? fieldRows(part, document, parent + mark) : [],
    ),
  ];
}

/** The type in a word: fields have rows of their own. */
function typeName(schema: JsonObject, document: JsonObject): string {
  const { type, items } = schemaOf(schema, document);
  if (type === 'object') return 'object';
  return isJsonObject(items) ? `list of ${typeName(items, document)}` : typeText(schema, document);
}

const schemaOf = (schema: JsonObject, document: JsonObject): JsonObject => {
  const { $ref: reference, ...beside } = schema as Record<string, Json>;
  return typeof reference === 'string'
    ? { ...namedSchema(reference, document), ...beside }
    : schema;
};

function bodyOf(title: string, bodySchema: JsonObject, document: JsonObject): string {
  const parts = Object.entries(objectOf(bodySchema['content'])).map(([type, media]) => {
    const { schema, example } = objectOf(media);
    const rows = [...new Set(fieldRows(objectOf(schema), document))];
    const fieldsTable = tableOf(['Field', 'Type', 'Required', 'Meaning'], rows);
    const shown = example === undefined ? '' : `<pre tabindex="0">${pretty(example)}</pre>`;
    return `<h4>${escaped(title)} <small>${escaped(type)}</small></h4>${fieldsTable}${shown}`;
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
      return `<h3>${escaped(status)}</h3>${text}${isSuccess ? bodyOf('Response', existing, document) : ''}`;
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
  return typeText(namedSchema(reference, document), document, depth);
}

function namedSchema(reference: string, document: JsonObject): JsonObject {
  const name = reference.slice(reference.lastIndexOf('/') + 1);
  return objectOf(objectOf(objectOf(document['components'])['schemas'])[name]);
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
