import { routesWith } from '#http/define-route.ts';
import type { FunctionsServices } from '#modules/functions/services.ts';
import type { ConnectionFinder } from './webhooks-in/find-connections.ts';
import type { IncomingWebhooks } from './webhooks-in/incoming-store.ts';
import type { ProviderKeys } from './webhooks-in/provider-keys.ts';
import type { Deliveries } from './webhooks-out/deliveries.ts';

export interface WebhooksServices extends FunctionsServices {
  /** Webhooks to the application and their outcome. */
  readonly deliveries: Deliveries;
  /** Webhooks of providers and their outcome. */
  readonly incoming: IncomingWebhooks;
  readonly connectionFinder: ConnectionFinder;
  readonly providerKeys: ProviderKeys;
}

export const defineRoute = routesWith<WebhooksServices>();
