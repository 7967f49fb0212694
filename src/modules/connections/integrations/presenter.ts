import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import { logoUrl } from '../providers/presenter.ts';
import type { Integration } from './integration.ts';

/** An integration without its secrets. */
const shown = representation<Integration & { readonly publicUrl: string }>()({
  unique_key: z.string(),
  display_name: z.string(),
  provider: z.string(),
  logo: [z.string(), ({ publicUrl, provider }) => logoUrl(publicUrl, provider)],
  forward_webhooks: z.boolean(),
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

export const presentIntegration = (integration: Integration, publicUrl: string) =>
  shown.of({ ...integration, publicUrl });

/** By the mode of the provider; null where the mode needs none. */
const credentials = z.record(z.string(), z.string().nullable()).nullable();

const values = z.record(z.string(), z.string());

/** Fields of `include` are at the end. */
export const integrationShape = shown.schema
  .extend({
    webhook_url: z
      .string()
      .nullable()
      .optional()
      .describe('Address for webhooks of the provider; null where it sends none.'),
    integration_config: values
      .optional()
      .describe('Values of the fields that the provider declares.'),
    custom: values.optional().describe('Values of your own that templates of the provider read.'),
    credentials: credentials
      .optional()
      .describe('OAuth client or app; null where the authentication mode needs none.'),
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

/** Address for the provider's webhooks; null when it has no routing script. */
export function webhookUrlOf(
  { environmentUid, uniqueKey }: Integration,
  provider: Provider | null,
  publicUrl: string,
): string | null {
  const hasRouting = provider?.webhook_routing_script ?? provider?.webhook_routing;
  if (hasRouting === undefined) return null;
  return `${publicUrl}/webhook/${environmentUid}/${encodeURIComponent(uniqueKey)}`;
}
