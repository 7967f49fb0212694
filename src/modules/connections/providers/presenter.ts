import { z } from 'zod';
import { languageFor } from '#http/negotiate.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import type { Provider } from './definition.ts';
import { authModes } from './schema-parts.ts';

/** The whole entry of the catalog; only the fields of every provider are listed. */
export const providerShape = z
  .looseObject({
    name: z.string().describe('Name of the provider.'),
    display_name: z.string(),
    categories: z.array(z.string()).describe('Categories of the provider.'),
    auth_mode: z.enum(authModes).describe('Authentication mode of the provider.'),
    docs: z.string().describe('Address of the documentation of the provider.'),
    logo_url: z.string().describe('Address of the logo.'),
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
        authorization_url: 'https://crm.example.com/oauth/authorize',
        token_url: 'https://crm.example.com/oauth/token',
      },
    ],
  });

const languages = ['en', 'es', 'fr', 'de'] as const;
type Language = (typeof languages)[number];

/** The language of titles for an `Accept-Language` header; English without a match. */
export const languageOf = (header: string | undefined): Language => languageFor(header, languages);

/** The whole catalog entry with its logo; localized texts in one language. */
export function presentProvider(provider: Provider, publicUrl: string, language: Language) {
  const entry = localised(provider as unknown as Json, language) as Record<string, Json>;
  return { ...entry, logo_url: logoUrl(publicUrl, provider.name) };
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
