import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { integrationKey } from '#http/fields.ts';
import { content, data, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '../services.ts';
import { logoSvg } from './logo.ts';
import { languageOf, presentProvider, providerShape } from './presenter.ts';

const language = z.object({ 'accept-language': z.string().optional() });

const catalogue = defineRoute({
  method: 'GET',
  path: '/providers.json',
  credential: 'none',
  scopes: [],
  summary: 'Get the whole catalog of providers.',
  description: 'Provider definitions by name, as the gateway uses them.',
  answers: { 200: json('By name.', z.record(z.string(), providerShape)) },
  errors: [],
  async handle({ services }) {
    const { providers, settings } = services;
    const entries = providers.all().map((provider) => {
      return [provider.name, presentProvider(provider, settings.publicUrl, 'en')] as const;
    });
    return { status: 200, body: Object.fromEntries(entries) };
  },
});

const listProviders = defineRoute({
  method: 'GET',
  path: '/providers',
  credential: 'environment',
  takesConnectToken: true,
  scopes: [],
  summary: 'List the providers of the catalog.',
  query: z.strictObject({
    search: integrationKey.optional().describe('Only providers whose name contains this text.'),
  }),
  headers: language,
  answers: { 200: json('The providers.', data(z.array(providerShape))) },
  errors: [],
  async handle({ query, headers, services }) {
    // An expression in which only the dot is special: it is the only such character that a search may have.
    // oxlint-disable-next-line svc/literal-pattern -- nothing in it repeats
    const wanted = new RegExp(query.search ?? '', 'i');
    const { publicUrl } = services.settings;
    const spoken = languageOf(headers['accept-language']);
    const found = services.providers.all().filter(({ name }) => wanted.test(name));
    return {
      status: 200,
      body: { data: found.map((provider) => presentProvider(provider, publicUrl, spoken)) },
    };
  },
});

const getProvider = defineRoute({
  method: 'GET',
  path: '/providers/{provider}',
  credential: 'environment',
  takesConnectToken: true,
  scopes: [],
  summary: 'Get a provider of the catalog.',
  description: 'Includes the whole provider definition.',
  params: z.strictObject({ provider: z.string().max(255) }),
  headers: language,
  answers: { 200: json('The provider.', data(providerShape)) },
  errors: ['not_found'],
  async handle({ params, headers, services }) {
    const provider = services.providers.find(params.provider);
    if (provider === null) throw unknownProvider(params.provider);
    const spoken = languageOf(headers['accept-language']);
    return {
      status: 200,
      body: { data: presentProvider(provider, services.settings.publicUrl, spoken) },
    };
  },
});

const getLogo = defineRoute({
  method: 'GET',
  path: '/images/template-logos/{file}',
  credential: 'none',
  scopes: [],
  summary: 'Get the logo of a provider.',
  params: z.strictObject({
    file: z.string().max(260).describe('Name of the file: `<provider>.svg`.'),
  }),
  answers: { 200: content('The logo.', 'image/svg+xml') },
  errors: ['not_found'],
  async handle({ params, services }) {
    const name = params.file.replace(/\.svg$/, '');
    const provider = name === params.file ? null : services.providers.find(name);
    if (provider === null) {
      throw new GatewayError('not_found', { message: `The logo "${params.file}" does not exist.` });
    }
    return {
      status: 200,
      body: Buffer.from(logoSvg(provider)),
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' },
    };
  },
});

function unknownProvider(name: string): GatewayError {
  return new GatewayError('not_found', {
    message: `The provider "${name}" is not in the catalog.`,
  });
}

export const providerRoutes: readonly AnyRoute[] = [catalogue, listProviders, getProvider, getLogo];
