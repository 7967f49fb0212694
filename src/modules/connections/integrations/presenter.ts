import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import { logoUrl } from '../providers/presenter.ts';
import type { Integration } from './state.ts';

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

/** An integration without its secrets. */
export function presentIntegration(integration: Integration, publicUrl: string) {
  return {
    unique_key: integration.uniqueKey,
    display_name: integration.displayName,
    provider: integration.provider,
    logo: logoUrl(publicUrl, integration.provider),
    forward_webhooks: integration.forwardWebhooks,
    created_at: isoMillis(integration.createdAt),
    updated_at: isoMillis(integration.updatedAt),
  };
}

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
