import { isoMillis } from '../../../kernel/time.ts';
import type { Provider } from '../providers/definition.ts';
import { logoUrl } from '../providers/presenter.ts';
import type { Integration } from './state.ts';

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
