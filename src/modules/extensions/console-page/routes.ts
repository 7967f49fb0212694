import { z } from 'zod';
import type { AnyRoute, RouteAnswer } from '#http/define-route.ts';
import { assetAnswer, cachedForever, pageBundle } from '#http/page-bundle.ts';
import { pageDocument } from '#http/page-document.ts';
import { content } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '#modules/operations/services.ts';

/**
 * Nothing inline, nothing of another host, no frame around it: the session of this page acts for keys. `data:` is for
 * logos.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
];

/** The document of the console, the same for all of its pages. */
function documentAnswer(parts: {
  /** Names of the files of the two entries. */
  readonly script: string;
  readonly style: string;
  /** A proxy may serve the console below a path. */
  readonly publicUrl: string;
}): RouteAnswer {
  return pageDocument({
    ...parts,
    status: 200,
    title: 'Console',
    assets: '/console/assets/',
    body: '<div id="app"></div>\n<noscript>The console needs JavaScript.</noscript>\n',
    policy,
    headers: { 'cross-origin-opener-policy': 'same-origin', 'x-frame-options': 'DENY' },
  });
}

const bundle = pageBundle('console');

async function document(publicUrl: string): Promise<RouteAnswer> {
  const { nameOf } = await bundle();
  return documentAnswer({ script: nameOf('console'), style: nameOf('style'), publicUrl });
}

/** The script reads the address. */
const anyQuery = z.record(z.string(), z.unknown());
const answers = { 200: content('The document.', 'text/html') };

const page = defineRoute({
  method: 'GET',
  path: '/console',
  credential: 'none',
  scopes: [],
  summary: 'Get the web console.',
  query: anyQuery,
  answers,
  errors: [],
  handle: async ({ services }) => document(services.settings.publicUrl),
});

const asset = defineRoute({
  method: 'GET',
  path: '/console/assets/{file}',
  credential: 'none',
  scopes: [],
  summary: 'Get a script or style of the console.',
  description: 'Its name changes with its content.',
  params: z.strictObject({ file: z.string().max(255) }),
  headers: z.object({ 'accept-encoding': z.string().optional() }),
  answers: { 200: content('The file.', '*/*') },
  errors: ['not_found'],
  async handle({ params, headers }) {
    const found = (await bundle()).files.get(params.file);
    if (found === undefined) {
      throw new GatewayError('not_found', { message: `The console has no file "${params.file}".` });
    }
    return assetAnswer(found, headers['accept-encoding'], cachedForever);
  },
});

const deepLink = defineRoute({
  method: 'GET',
  path: '/console/{page}',
  takesRest: true,
  credential: 'none',
  scopes: [],
  summary: 'Get a page of the web console.',
  params: z.strictObject({ page: z.string().describe('Page of the console.') }),
  query: anyQuery,
  answers,
  errors: [],
  handle: async ({ services }) => document(services.settings.publicUrl),
});

export const consolePageRoutes: readonly AnyRoute[] = [page, asset, deepLink];
