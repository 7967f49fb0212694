import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { webhookKinds } from '../webhooks-out/events.ts';
import type { WebhookEndpoint } from './webhook-endpoint.ts';

type EndpointShown = Omit<WebhookEndpoint, 'environmentUid' | 'url'> & {
  /** In clear. */
  readonly url: string;
  readonly managedBy: 'environment' | 'endpoint';
};

const shown = representation<EndpointShown>()({
  id: z
    .string()
    .describe('Id of the endpoint; `primary` and `secondary` are those of the environment.'),
  display_name: z.string(),
  url: z.string().describe('Address to which webhooks are sent.'),
  kinds: z
    .array(z.enum(webhookKinds))
    .nullable()
    .describe('Kinds of webhook that it receives; null: all of them.'),
  provider_config_key: [
    z.string().nullable().describe('Only webhooks of this integration; null: of all.'),
    ({ integrationKey }) => integrationKey,
  ],
  connection_id: z.string().nullable().describe('Only webhooks of this connection; null: of all.'),
  enabled: [z.boolean().describe('Whether webhooks are sent to it.'), ({ isEnabled }) => isEnabled],
  managed_by: z
    .enum(['environment', 'endpoint'])
    .describe('Whether the settings of the environment or this API manage it.'),
  created_at: [timestamp, ({ createdAt }) => isoMillis(createdAt)],
  updated_at: [timestamp, ({ updatedAt }) => isoMillis(updatedAt)],
});

export const presentEndpoint = shown.of;
const endpointShape = shown.schema.meta({ id: 'WebhookEndpoint' });

export const oneEndpointShape = data(endpointShape);
export const endpointsShape = data(z.array(endpointShape));
