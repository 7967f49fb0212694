import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';

/** By the mode of the provider; null where the mode needs none. */
const credentials = z.record(z.string(), z.string().nullable()).nullable();

/** Fields of `include` are at the end. */
export const integrationShape = z
  .strictObject({
    unique_key: z.string(),
    display_name: z.string(),
    provider: z.string(),
    logo: z.string(),
    forward_webhooks: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
    webhook_url: z.string().nullable().optional(),
    credentials: credentials.optional(),
  })
  .meta({
    id: 'Integration',
    examples: [
      {
        unique_key: 'crm-prod',
        display_name: 'CRM',
        provider: 'crm',
        logo: 'https://gateway.example.com/images/template-logos/crm.svg',
        forward_webhooks: true,
        created_at: '2026-02-01T08:00:00.000Z',
        updated_at: '2026-02-01T08:00:00.000Z',
      },
    ],
  });
