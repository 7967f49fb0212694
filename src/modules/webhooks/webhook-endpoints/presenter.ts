import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { webhookKinds } from '../webhooks-out/events.ts';

const endpointShape = z
  .strictObject({
    id: z
      .string()
      .describe('Id of the endpoint; `primary` and `secondary` are those of the environment.'),
    display_name: z.string(),
    url: z.string().describe('Address to which webhooks are sent.'),
    kinds: z
      .array(z.enum(webhookKinds))
      .nullable()
      .describe('Kinds of webhook that it receives; null: all of them.'),
    provider_config_key: z
      .string()
      .nullable()
      .describe('Only webhooks of this integration; null: of all.'),
    connection_id: z
      .string()
      .nullable()
      .describe('Only webhooks of this connection; null: of all.'),
    enabled: z.boolean().describe('Whether webhooks are sent to it.'),
    managed_by: z
      .enum(['environment', 'endpoint'])
      .describe('Whether the settings of the environment or this API manage it.'),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'WebhookEndpoint' });

export const oneEndpointShape = data(endpointShape);
export const endpointsShape = data(z.array(endpointShape));
