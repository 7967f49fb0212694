import type { Publisher } from '#control-plane/publisher.ts';
import { routesWith } from '#http/define-route.ts';
import type { AddressSettings, CommonServices } from '#modules/access/services.ts';
import type { ConnectionFollowers, ProviderAccess } from '#modules/connections/services.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { ConnectionFinder } from './webhooks-in/find-connections.ts';
import type { IncomingWebhooks } from './webhooks-in/incoming-store.ts';
import type { ProviderKeys } from './webhooks-in/verify-token.ts';
import type { Deliveries } from './webhooks-out/deliveries.ts';

export interface WebhookParts {
  /** Webhooks to the application and their outcome. */
  readonly deliveries: Deliveries;
  /** Webhooks of providers and their outcome. */
  readonly incoming: IncomingWebhooks;
  readonly connectionFinder: ConnectionFinder;
  readonly providerKeys: ProviderKeys;
}

export interface UnsignedLimits {
  /** Limit per integration of stored webhooks that name a connection and are not verified. */
  readonly webhookUnsignedMbPerHour: number;
}

export interface WebhookSettings extends AddressSettings, UnsignedLimits {
  /** Whether webhooks of providers beyond the limit are refused, or only counted. */
  readonly webhookRateLimit: 'count' | 'enforce';
}

/** Services of the routes of this wing. */
export type WebhooksServices = CommonServices &
  ProviderAccess &
  ConnectionFollowers &
  WebhookParts & {
    readonly metrics: Metrics;
    readonly publisher: Publisher;
    readonly runs: RunsClient;
    readonly settings: WebhookSettings;
  };

export const defineRoute = routesWith<WebhooksServices>();
