import { readFile } from 'node:fs/promises';
import { content, json } from '../../../http/responses.ts';
import type { AnyRoute } from '../../../http/define-route.ts';
import { defineRoute, type OperationsServices } from '../services.ts';
import { jsonObject } from '../../../http/fields.ts';
import { openapiDocument, type Endpoints } from '../../../http/openapi/document.ts';
import { llmsText } from './llms-text.ts';
import { referencePage } from './page.ts';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

const styleFile = new URL('page.css', import.meta.url);

const style = defineRoute({
  method: 'GET',
  path: '/docs/style.css',
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
    summary: 'This API as an OpenAPI 3.1 document.',
    answers: { 200: json('The document.', jsonObject) },
    errors: [],
    async handle({ services }) {
      return { status: 200, body: (await texts(services)).document };
    },
  });

  const docs = defineRoute({
    method: 'GET',
    path: '/docs',
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
    summary: 'This API for language models.',
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
