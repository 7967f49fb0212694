import { z } from 'zod';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import {
  assetAnswer,
  cachedForever,
  compressedPage,
  pageBundle,
  type Asset,
} from '#http/page-bundle.ts';
import { content, nothing } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { withoutTrailingSlashes } from '#kernel/trailing-slashes.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { providerTemplates } from '#modules/functions/templates/templates.ts';
import { sitePolicy } from '#modules/operations/reference/policy.ts';
import { defineRoute, type OperationsServices } from '#modules/operations/services.ts';
import type { Template } from '#rules/templates.ts';
import { providerListPage, providerPage, templatePage } from './provider-pages.ts';

const files = pageBundle('docs');

const security = {
  'content-security-policy': [...sitePolicy, "frame-ancestors 'none'"].join('; '),
  'referrer-policy': 'no-referrer',
};

const headers = z.object({
  'accept-encoding': z.string().optional(),
  'if-none-match': z.string().optional().describe('`ETag` of the copy that the browser has.'),
});

/** Where the site has the list of providers; its page is also the frame of those of each. */
const listFolder = 'providers/';

type SiteFiles = ReadonlyMap<string, Asset>;

/** Pages of the catalog of this gateway; undefined: the address is of no provider. */
async function catalogPage(
  page: string,
  files: SiteFiles,
  { providers, settings }: OperationsServices,
): Promise<Asset | undefined> {
  const template = files.get(`${listFolder}index.html`)?.plain.toString();
  if (template === undefined || !page.startsWith(listFolder)) return undefined;
  if (page === listFolder || page === `${listFolder}index.html`)
    return listPage(template, providers.all());
  if (!page.endsWith('/')) return undefined;
  const { provider, template: shown } = subjectOf(page.slice(0, -1), providers);
  if (provider === null || shown === null) return undefined;
  return compressedPage(
    shown === undefined
      ? providerPage(template, provider, settings.publicUrl)
      : templatePage(template, provider, shown),
  );
}

interface PageSubject {
  readonly provider: Provider | null;
  /** Undefined: the page is of the provider; null: there is no such template. */
  readonly template?: Template | null;
}

/** Of `providers/<provider>`, or `providers/<provider>/<template>`. */
function subjectOf(page: string, providers: OperationsServices['providers']): PageSubject {
  const [name = '', template, ...rest] = page.slice(listFolder.length).split('/');
  const provider = providers.find(name);
  if (provider === null || template === undefined) return { provider };
  const templates = rest.length === 0 ? providerTemplates(provider.name) : [];
  return { provider, template: templates.find((one) => one.name === template) ?? null };
}

/** Compressing the list takes longer than making it, and the catalog of a process stays. */
const listPages = new WeakMap<readonly Provider[], Promise<Asset>>();

function listPage(template: string, providers: readonly Provider[]): Promise<Asset> {
  const page = listPages.get(providers) ?? compressedPage(providerListPage(template, providers));
  listPages.set(providers, page);
  return page;
}

function hasPage(page: string, files: SiteFiles, { providers }: OperationsServices): boolean {
  if (files.has(`${page}/index.html`)) return true;
  if (!page.startsWith(listFolder)) return false;
  const { provider, template } = subjectOf(page, providers);
  return provider !== null && template !== null;
}

/** Leads to the same path with a slash at its end, below any path at which a proxy serves it. */
function withSlash(path: string): RouteAnswer {
  const last = path.slice(path.lastIndexOf('/') + 1);
  return { status: 308, headers: { location: `${encodeURIComponent(last)}/` } };
}

const redirect = nothing('The page is at the same path with a slash at its end.');

/** Its links begin at the top of the site, because the address may be at any depth. */
async function notFoundPage(
  { code }: GatewayError,
  _: string,
  { settings: { publicUrl } }: OperationsServices,
): Promise<RouteAnswer | null> {
  const template = (await files()).files.get('404.html');
  if (code !== 'not_found' || template === undefined) return null;
  const top = `${withoutTrailingSlashes(new URL(publicUrl).pathname)}/docs/`;
  const body = Buffer.from(template.plain.toString().replaceAll('="./', `="${top}`));
  return {
    status: 404,
    body,
    headers: { 'content-type': template.type, 'cache-control': 'no-store', ...security },
  };
}

const start = defineRoute({
  method: 'GET',
  path: '/docs',
  credential: 'none',
  scopes: [],
  summary: 'Get the documentation.',
  answers: { 308: redirect },
  errors: [],
  handle: async () => withSlash('/docs'),
});

const page = defineRoute({
  method: 'GET',
  path: '/docs/{page}',
  takesRest: true,
  keepsSlash: true,
  credential: 'none',
  scopes: [],
  summary: 'Get a page of the documentation, or a file that its pages use.',
  params: z.strictObject({
    page: z
      .string()
      .max(255)
      .describe('Path of the page, such as `records/`.')
      .meta({ examples: ['records/'] }),
  }),
  headers,
  answers: {
    200: content('The page or file.', '*/*'),
    304: nothing('It is the one that the browser has.'),
    308: redirect,
  },
  errors: ['not_found'],
  refusalPage: notFoundPage,
  async handle({ params, headers: accepted, services }) {
    // The address in the static copy of the site.
    if (params.page === 'api/') return { status: 308, headers: { location: '../api' } };
    const bundle = (await files()).files;
    const name = /(^|\/)$/.test(params.page) ? `${params.page}index.html` : params.page;
    const found = (await catalogPage(params.page, bundle, services)) ?? bundle.get(name);
    if (found === undefined && hasPage(name, bundle, services)) return withSlash(name);
    if (found === undefined) {
      const fix = 'Search the documentation at GET /docs.';
      throw new GatewayError('not_found', { message: `There is no page "${name}".`, fix });
    }
    const caching = name.startsWith('assets/') ? cachedForever : 'no-cache';
    const shared = { etag: found.etag, ...security };
    if (accepted['if-none-match'] === found.etag)
      return { status: 304, headers: { ...shared, 'cache-control': caching } };
    const answer = assetAnswer(found, accepted['accept-encoding'], caching);
    return { ...answer, headers: { ...answer.headers, ...shared } };
  },
});

export const docsSiteRoutes: readonly AnyRoute[] = [start, page];
