import { GatewayError } from '#kernel/errors.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import type { WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import type { WebhooksServices } from '../services.ts';

/** The integration that receives webhooks. */
export interface Receiver {
  readonly environment: Environment;
  readonly integration: Integration;
  readonly rules: WebhookRules;
}

/** Null when the provider has no routing. @throws GatewayError `webhook_unknown_provider` */
export function receiverFor(
  environment: Environment,
  integration: Receiver['integration'],
  provider: ReturnType<WebhooksServices['providers']['find']>,
): Receiver | null {
  const rules = provider?.webhook_routing;
  if (rules !== undefined) return { environment, integration, rules };
  const script = provider?.webhook_routing_script;
  if (script === undefined) return null;
  const message = `The definition of "${integration.provider}" has no rules for webhooks: it names "${script}" and has no webhook_routing.`;
  throw new GatewayError('webhook_unknown_provider', { message });
}

function environmentOf({ control }: Pick<WebhooksServices, 'control'>, uid: string): Environment {
  const found = control.view.find(environmentRef(uid));
  if (found === null) throw new GatewayError('not_found');
  return found;
}

/** @throws GatewayError `not_found`, `webhook_unknown_provider` */
export async function receiverOf(
  services: Pick<WebhooksServices, 'control' | 'providers'>,
  environmentUid: string,
  key: string,
): Promise<Receiver> {
  const { control, providers } = services;
  const integration = await requireIntegration(control, environmentUid, key);
  const environment = environmentOf(services, environmentUid);
  const provider = providers.find(integration.provider);
  const target = receiverFor(environment, integration, provider);
  if (target !== null) return target;
  const message = `Webhooks of the provider "${integration.provider}" are not processed.`;
  throw new GatewayError('not_found', { message });
}
