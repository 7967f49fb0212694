import { z } from 'zod';
import { authModes } from './definition.ts';

/** The whole entry of the catalog; only the fields of every provider are listed. */
export const providerShape = z
  .looseObject({
    name: z.string(),
    display_name: z.string(),
    categories: z.array(z.string()),
    auth_mode: z.enum(authModes),
    docs: z.string(),
    logo_url: z.string(),
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
