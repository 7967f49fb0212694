import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { assetAnswer, cachedForever } from '#http/page-bundle.ts';
import { content, nothing } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '../services.ts';
import { pageAssets } from './assets.ts';
import { documentAnswer } from './document.ts';

const encodings = z.object({ 'accept-encoding': z.string().optional() });

const page = defineRoute({
  method: 'GET',
  path: '/connect/ui/',
  credential: 'none',
  scopes: [],
  summary: 'Get the connect page.',
  description: 'On it an end user creates a connection; its script reads the token in the query.',
  query: z.record(z.string(), z.unknown()),
  answers: { 200: content('The page.', 'text/html') },
  errors: [],
  async handle({ services }) {
    const { pageScript, style } = await pageAssets();
    const { publicUrl, connectOrigins } = services.settings;
    return documentAnswer({
      status: 200,
      title: 'Connect',
      script: pageScript,
      style,
      publicUrl,
      framedBy: connectOrigins,
    });
  },
});

const asset = defineRoute({
  method: 'GET',
  path: '/connect/ui/assets/{file}',
  credential: 'none',
  scopes: [],
  summary: 'Get a script or style of the connect page.',
  description: 'Its name changes with its content.',
  params: z.strictObject({ file: z.string().max(255) }),
  headers: encodings,
  answers: { 200: content('The file.', '*/*') },
  errors: ['not_found'],
  async handle({ params, headers }) {
    const { files } = await pageAssets();
    const found = files.get(params.file);
    if (found === undefined) {
      throw new GatewayError('not_found', { message: `The page has no file "${params.file}".` });
    }
    return assetAnswer(found, headers['accept-encoding'], cachedForever);
  },
});

const embed = defineRoute({
  method: 'GET',
  path: '/connect/embed.js',
  credential: 'none',
  scopes: [],
  summary: 'Get the script that embeds the connect page.',
  description: 'For pages of applications.',
  headers: encodings.extend({
    'if-none-match': z.string().optional().describe('`ETag` of the copy that the browser has.'),
  }),
  answers: {
    200: content('The script.', 'text/javascript'),
    304: nothing('It is the one that the browser has.'),
  },
  errors: [],
  async handle({ headers }) {
    const script = (await pageAssets()).embed;
    const caching = 'public, max-age=3600';
    if (headers['if-none-match'] === script.etag) {
      return { status: 304, headers: { etag: script.etag, 'cache-control': caching } };
    }
    const answer = assetAnswer(script, headers['accept-encoding'], caching);
    // Allows cross-origin isolated pages to load it.
    const shared = { etag: script.etag, 'cross-origin-resource-policy': 'cross-origin' };
    return { ...answer, headers: { ...answer.headers, ...shared } };
  },
});

export const connectPageRoutes: readonly AnyRoute[] = [page, asset, embed];
