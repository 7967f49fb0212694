import { z } from 'zod';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { jsonObject } from '#http/fields.ts';
import { openapiDocument, type Endpoints } from '#http/openapi/document.ts';
import { assetAnswer, cachedForever, pageBundle } from '#http/page-bundle.ts';
import { pageDocument } from '#http/page-document.ts';
import { content, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { sitePolicy } from '../docs-site/policy.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import { listOf, operationsOf, referenceBody, textOf, type Operation } from './page.ts';

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
  const texts = ({ settings: { version, publicUrl } }: Pick<OperationsServices, 'settings'>) => {
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
    body: await referenceBody(document, '../docs/'),
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

${sections.join('\n')}`;
}

function lineOf({ method, path, operation }: Operation, base: string): string {
  const link = `${base}/docs/api#${textOf(operation['operationId'])}`;
  return `- [${method.toUpperCase()} ${path}](${link}): ${textOf(operation['summary'])}`;
}
