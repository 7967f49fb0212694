import { readFile } from 'node:fs/promises';
import { content, json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import { jsonObject } from '../../../http/fields.ts';
import { openapiDocument, type Endpoints } from '../../../http/openapi/document.ts';
import { referencePage, methods, tagOf, textOf } from './page.ts';
import { objectOf, type JsonObject } from '../../../kernel/stable-json.ts';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

const styleFile = new URL('page.css', import.meta.url);

const style = defineRoute({
  method: 'GET',
  path: '/docs/api/style.css',
  credential: 'none',
  scopes: [],
  summary: 'The style of the page.',
  answers: { 200: content('The style.', 'text/css') },
  errors: [],
  async handle() {
    const headers = {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'max-age=3600',
    };
    return { status: 200, body: await readFile(styleFile), headers };
  },
});

interface Texts {
  readonly document: Buffer;
  readonly page: Buffer;
  readonly llms: Buffer;
}

/** @param endpoints read at the first request, because they include these routes */
export function referenceRoutes(endpoints: () => Endpoints): readonly AnyRoute[] {
  /** By address, which is known only when the server listens. */
  const made = new Map<string, Promise<Texts>>();
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

  const docs = defineRoute({
    method: 'GET',
    path: '/docs/api',
    credential: 'none',
    scopes: [],
    summary: 'This API as a page to read.',
    answers: { 200: content('The page.', 'text/html') },
    errors: [],
    async handle({ services }) {
      return { status: 200, body: (await texts(services)).page, headers: pageHeaders };
    },
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
  return [openapi, docs, style, llms];
}

async function textsOf(
  endpoints: Endpoints,
  info: { readonly version: string; readonly publicUrl: string },
): Promise<Texts> {
  const document = await openapiDocument(endpoints, info);
  const page = await referencePage(document);
  const llms = llmsText(document, info.publicUrl);
  return {
    document: Buffer.from(JSON.stringify(document)),
    page: Buffer.from(page),
    llms: Buffer.from(llms),
  };
}

/**
 * The API as Markdown for language models: an introduction, authentication, and a line for each operation with a link
 * to its details.
 * @param base address that the links begin with, without a slash at its end
 */
function llmsText(document: JsonObject, base: string): string {
  const paths = Object.entries(objectOf(document['paths']));
  const sections = [...new Set(paths.map(([path]) => tagOf(path)))].map((tag) => {
    const lines = paths
      .filter(([path]) => tagOf(path) === tag)
      .flatMap(([path, item]) => linesOf(path, objectOf(item), base));
    return `## ${tag}\n\n${lines.join('\n')}\n`;
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

function linesOf(path: string, item: JsonObject, base: string): string[] {
  return methods.flatMap((method) => {
    const { operationId: id, summary, deprecated } = objectOf(item[method]);
    if (id === undefined || deprecated === true) return [];
    const link = `[${method.toUpperCase()} ${path}](${base}/docs/api#${textOf(id)})`;
    return [`- ${link}: ${textOf(summary)}`];
  });
}
