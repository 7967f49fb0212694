import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import type { WebhookRules } from '#modules/connections/providers/webhook-rules.ts';

/** The integration that the address of a webhook names. */
export interface IntegrationAddress {
  readonly environmentUid: string;
  readonly integrationKey: string;
}

/** The integration that receives webhooks. */
export interface Receiver {
  readonly environment: Environment;
  readonly integration: Integration;
  readonly rules: WebhookRules;
}

/**
 * Null when webhooks of the provider are not processed.
 * @throws GatewayError `unknown_environment`, `unknown_provider_config`, `webhook_unknown_provider`
 */
export async function receiverOf(
  { control, providers }: { readonly control: ControlPlane; readonly providers: ProviderCatalogue },
  { environmentUid, integrationKey: key }: IntegrationAddress,
): Promise<Receiver | null> {
  const environment = await findCaughtUp(control.view, () => {
    const found = control.view.find(environmentRef(environmentUid));
    return found?.isDeleting === true ? null : found;
  });
  if (environment === null) throw new GatewayError('unknown_environment');
  const integration = await findCaughtUp(control.view, () =>
    findIntegration(control, environmentUid, key),
  );
  if (integration === null) {
    const message = `The integration "${key}" does not exist in the environment of this address.`;
    throw new GatewayError('unknown_provider_config', { message });
  }
  const provider = providers.find(integration.provider);
  const rules = provider?.webhook_routing;
  if (rules !== undefined) return { environment, integration, rules };
  const script = provider?.webhook_routing_script;
  if (script === undefined) return null;
  const message = `The definition of "${integration.provider}" has no rules for webhooks: it names "${script}" and has no webhook_routing.`;
  throw new GatewayError('webhook_unknown_provider', { message });
}
