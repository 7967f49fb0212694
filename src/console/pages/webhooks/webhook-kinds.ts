import type { WebhookEndpoint } from '#client/index.ts';

export type WebhookKind = NonNullable<WebhookEndpoint['kinds']>[number];

/** A kind of the API without a label does not compile. */
const labels: Readonly<Record<WebhookKind, string>> = {
  auth: 'auth',
  sync: 'sync',
  async_action: 'async action',
  forward: 'forward',
  test: 'test',
};

export const webhookKinds = Object.keys(labels) as readonly WebhookKind[];

export const labelOfWebhook = (kind: WebhookKind): string => labels[kind];
