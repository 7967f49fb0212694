import type { Instant } from '#kernel/time.ts';
import type { WebhookEndpoint } from './state.ts';

/** The fields that a caller can set. */
export type EndpointSettings = Pick<
  WebhookEndpoint,
  'displayName' | 'url' | 'kinds' | 'integrationKey' | 'connectionId' | 'isEnabled'
>;

export type WebhookEndpointEvent =
  | { readonly type: 'WebhookEndpointCreated'; readonly endpoint: WebhookEndpoint }
  | {
      readonly type: 'WebhookEndpointChanged';
      readonly changes: Partial<EndpointSettings>;
      readonly at: Instant;
    }
  | { readonly type: 'WebhookEndpointDeleted' };
