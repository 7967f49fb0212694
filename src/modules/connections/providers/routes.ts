import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { integrationKey } from '#http/fields.ts';
import { languageFor } from '#http/negotiate.ts';
import { content, data, json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { defineRoute } from '../services.ts';
import { callbackUrlsOf } from './callback-url.ts';
import type { Provider } from './definition.ts';
import { authModes } from './schema-parts.ts';

const fieldShape = z.looseObject({
  title: z.string().describe('Name of the field for people.'),
  description: z.string().describe('What it is, for people.'),
  secret: z.boolean().optional().describe('Whether a form hides what is typed.'),
  optional: z.boolean().optional().describe('Whether it may be left empty.'),
  enum: z.array(z.string()).optional().describe('The values that are allowed.'),
  enum_titles: z
    .record(z.string(), z.string())
    .optional()
    .describe('Titles of these values for people, by value.'),
  warnings: z.array(z.string()).optional().describe('What to know before it is filled.'),
});

/** The whole entry of the catalog; only the fields for people are listed. */
const providerShape = z
  .looseObject({
    name: z.string().describe('Name of the provider.'),
    display_name: z.string(),
    categories: z.array(z.string()).describe('Categories of the provider.'),
    auth_mode: z.enum(authModes).describe('Authentication mode of the provider.'),
    docs: z.string().describe('Address of the documentation of the provider.'),
    logo_url: z.string().describe('Address of the logo.'),
    callback_url: z
      .string()
      .nullable()
      .describe('Redirect URI of an app at the provider; null where the mode has none.'),
    app_setup_url: z
      .string()
      .nullable()
      .describe('Setup URL of an app that is installed; null where the mode has none.'),
    setup_guide_url: z.string().optional().describe('Page on which an app is registered.'),
    default_scopes: z
      .array(z.string())
      .optional()
      .describe('Scopes of an integration that names none.'),
    available_scopes: z.array(z.string()).optional().describe('Further scopes to choose from.'),
    scope_descriptions: z
      .record(z.string(), z.string())
      .optional()
      .describe('What a scope allows, by scope.'),
    revocation: z
      .looseObject({ url: z.string().describe('Address of the call.') })
      .optional()
      .describe('How access is revoked; absent where the definition does not say it.'),
    integration_config: z
      .record(z.string(), fieldShape)
      .optional()
      .describe('Fields of `integration_config` of an integration, by name.'),
  })
  .meta({
    id: 'Provider',
    examples: [
      {
        name: 'crm',
        display_name: 'CRM',
        categories: ['crm'],
        auth_mode: 'OAUTH2',
        docs: 'https://crm.example.com/docs',
        logo_url: 'https://gateway.example.com/images/template-logos/crm.svg',
        callback_url: 'https://gateway.example.com/oauth/callback',
        app_setup_url: null,
        authorization_url: 'https://crm.example.com/oauth/authorize',
        token_url: 'https://crm.example.com/oauth/token',
      },
    ],
  });

/** Of texts in definitions. */
export const languages = ['en', 'es', 'fr', 'de'] as const;
export type Language = (typeof languages)[number];

/** The language of titles for an `Accept-Language` header; English without a match. */
export const languageOf = (header: string | undefined): Language => languageFor(header, languages);

/** A text of a definition, and the language that it is in. */
export interface TextIn {
  readonly text: string;
  readonly language: Language;
}

/** In English where the definition does not have the language. */
export function textIn(text: string | Readonly<Record<string, string>>, wanted: Language): TextIn {
  if (typeof text === 'string') return { text, language: 'en' };
  const language = text[wanted] === undefined ? 'en' : wanted;
  return { text: text[language] ?? '', language };
}

/** The whole catalog entry with its addresses at this service; localized texts in one language. */
export function presentProvider(provider: Provider, publicUrl: string, language: Language) {
  const { logo: _served, ...shown } = provider;
  const entry = localised(shown as unknown as Json, language) as Record<string, Json>;
  const { callbackUrl, appSetupUrl } = callbackUrlsOf(provider, publicUrl);
  return {
    ...entry,
    logo_url: logoUrl(publicUrl, provider.name),
    callback_url: callbackUrl,
    app_setup_url: appSetupUrl,
  };
}

export function logoUrl(publicUrl: string, provider: string): string {
  return `${publicUrl}/images/template-logos/${encodeURIComponent(provider)}.svg`;
}

/** An object whose keys are all languages is a localized text. */
function localised(value: Json, language: Language): Json {
  if (Array.isArray(value)) return value.map((item) => localised(item as Json, language));
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value);
  const isText = keys.includes('en') && keys.every((key) => languages.includes(key as Language));
  if (isText) return value[language] ?? value['en'] ?? '';
  return Object.fromEntries(keys.map((key) => [key, localised(value[key] ?? null, language)]));
}

/** A brand's mark as one path in a square of 24, and its color. */
interface Icon {
  readonly providers: readonly string[];
  readonly color: string;
  readonly path: string;
}

const file = fileURLToPath(new URL('logos.json', import.meta.url));
const { icons } = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly icons: Readonly<Record<string, Icon>>;
};
const iconOf = new Map(
  Object.values(icons).flatMap((icon) => icon.providers.map((name) => [name, icon] as const)),
);

/** That of the definition, else the mark of the brand where a free one exists, else the initials on a color of the name. */
export function logoSvg(provider: Provider): string {
  if (provider.logo !== undefined) return provider.logo;
  const { name, display_name: title } = provider;
  const icon = iconOf.get(name);
  const ground = icon?.color ?? `hsl(${hueOf(name)} 45% 40%)`;
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img">' +
    `<title>${escaped(title)}</title><rect width="64" height="64" rx="12" fill="${ground}"/>` +
    `${icon === undefined ? initials(title) : mark(icon)}</svg>`
  );
}

const mark = ({ path, color }: Icon): string =>
  `<path transform="translate(14 14) scale(1.5)" fill="${inkOn(color)}" d="${path}"/>`;

function initials(title: string): string {
  const words = title.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = words.slice(0, 2).map((word) => /^./u.exec(word)?.[0].toUpperCase() ?? '');
  return (
    '<text x="32" y="42" font-family="sans-serif" font-size="28" fill="#fff" text-anchor="middle">' +
    `${escaped(letters.join(''))}</text>`
  );
}

const hueOf = (name: string): number =>
  Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 360, 7);

/** Black or white, the one with more contrast to the color (WCAG 2.2, relative luminance). */
function inkOn(color: string): '#000' | '#fff' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 ? '#fff' : '#000';
}

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

const escaped = (text: string): string => text.replace(/[&<>]/g, (sign) => marks[sign] ?? sign);

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
      headers: {
        'content-type': 'image/svg+xml',
        'cache-control': 'public, max-age=86400',
        // A browser that opens the image as a document runs no script of it and loads nothing.
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      },
    };
  },
});

function unknownProvider(name: string): GatewayError {
  return new GatewayError('not_found', {
    message: `The provider "${name}" is not in the catalog.`,
  });
}

export const providerRoutes: readonly AnyRoute[] = [catalogue, listProviders, getProvider, getLogo];
